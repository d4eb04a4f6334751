package bootstrap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// kubelet answers for a node as soon as a Pod is created on it.
type kubelet func(ctx context.Context, t *testing.T, c client.Client, pod *corev1.Pod)

func waiting(reason string) kubelet {
	return func(ctx context.Context, t *testing.T, c client.Client, pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		if err := c.Status().Update(ctx, pod); err != nil {
			t.Error(err)
		}
	}
}

func says(reason, message string) kubelet {
	return func(ctx context.Context, t *testing.T, c client.Client, pod *corev1.Pod) {
		err := c.Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
			InvolvedObject: corev1.ObjectReference{UID: pod.UID}, Reason: reason, Message: message})
		if err != nil {
			t.Error(err)
		}
	}
}

func failed(ctx context.Context, t *testing.T, c client.Client, pod *corev1.Pod) {
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "OutOfpods"
	if err := c.Status().Update(ctx, pod); err != nil {
		t.Error(err)
	}
}

// forbids is an API server that refuses such Pods.
func forbids(context.Context, *testing.T, client.Client, *corev1.Pod) {}

func TestSocketCheck(t *testing.T) {
	const noSocket = `MountVolume.SetUp failed for volume "docker" : hostPath type check failed: ` +
		"/var/run/docker.sock is not a socket file"
	for name, tc := range map[string]struct {
		nodes    map[string]kubelet
		refuses  bool // the creation of Pods
		left     bool // a Pod of a killed run is there
		says     string
		warnings []string // parts of them
	}{
		"it has the socket":             {nodes: map[string]kubelet{"one": waiting("ErrImageNeverPull")}},
		"the API server has it pull":    {nodes: map[string]kubelet{"one": waiting("ErrImagePull")}},
		"a Pod of a killed run is left": {nodes: map[string]kubelet{"one": waiting("ErrImageNeverPull")}, left: true},
		"it has none": {nodes: map[string]kubelet{"one": says("FailedMount", noSocket)},
			says: "no Docker socket /var/run/docker.sock on nodes of the cluster of --bootstrap-kubeconfig: one;"},
		"one of two has none": {nodes: map[string]kubelet{"one": waiting("ErrImageNeverPull"),
			"two": says("FailedMount", noSocket)}, says: ": two;"},
		"another mount fails": {nodes: map[string]kubelet{"one": says("FailedMount", "timed out")},
			warnings: []string{"node one of the bootstrap cluster has /var/run/docker.sock: no answer within"}},
		"it is silent": {nodes: map[string]kubelet{"one": nil}, warnings: []string{"no answer within"}},
		"it starts":    {nodes: map[string]kubelet{"one": waiting("ContainerCreating")}, warnings: []string{"no answer"}},
		"it has no room": {nodes: map[string]kubelet{"one": failed},
			warnings: []string{"the node refused the Pod: OutOfpods"}},
		"such Pods are forbidden": {nodes: map[string]kubelet{"one": forbids}, refuses: true,
			warnings: []string{"create a Pod: privileged"}},
		"no control plane": {says: "no schedulable node with the label node-role.kubernetes.io/control-plane"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, build := t.Context(), fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).
				WithStatusSubresource(&corev1.Pod{}).
				WithIndex(&corev1.Event{}, eventOfObject, func(o client.Object) []string {
					return []string{string(o.(*corev1.Event).InvolvedObject.UID)}
				}).WithObjects(node("worker", false), node("cordoned", true))
			if tc.left {
				pod := SocketCheck{}.pod("one")
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
					Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}}}}
				build.WithObjects(pod)
			}
			for name := range tc.nodes {
				build.WithObjects(node(name, true))
			}
			var created []string
			var mu sync.Mutex // the check asks all nodes at the same time
			c := build.WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch,
				o client.Object, options ...client.CreateOption) error {
				pod, is := o.(*corev1.Pod)
				if !is {
					return to.Create(ctx, o, options...)
				}
				if tc.refuses {
					return errors.New("privileged")
				}
				pod.UID = types.UID(pod.Spec.NodeName)
				mu.Lock()
				created = append(created, pod.Spec.NodeName)
				mu.Unlock()
				err := to.Create(ctx, o, options...)
				if answer := tc.nodes[pod.Spec.NodeName]; err == nil && answer != nil {
					answer(ctx, t, to, pod.DeepCopy())
				}
				return err
			}}).Build()
			var cordoned corev1.Node
			if err := c.Get(ctx, client.ObjectKey{Name: "cordoned"}, &cordoned); err != nil {
				t.Fatal(err)
			}
			cordoned.Spec.Unschedulable = true
			if err := c.Update(ctx, &cordoned); err != nil {
				t.Fatal(err)
			}
			notes := &pipeline.Notes{}
			err := SocketCheck{Cluster: "demo", Bound: 200 * time.Millisecond, Every: time.Millisecond}.Run(ctx, c, notes)
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says) ||
				fault.CodeOf(err) != fault.DockerUnreachable || fault.HintOf(err) == "") {
				t.Errorf("%v (%s), want %q", err, fault.CodeOf(err), tc.says)
			}
			if len(notes.Warnings) != len(tc.warnings) {
				t.Fatalf("warnings %q, want %q", notes.Warnings, tc.warnings)
			}
			for i, want := range tc.warnings {
				if !strings.Contains(notes.Warnings[i], want) {
					t.Errorf("warning %q, want %q", notes.Warnings[i], want)
				}
			}
			var pods corev1.PodList
			if err := c.List(ctx, &pods); err != nil || len(pods.Items) > 0 {
				t.Errorf("Pods are left: %v (%v)", pods.Items, err)
			}
			if slices.Contains(created, "worker") || slices.Contains(created, "cordoned") {
				t.Errorf("asked %v", created)
			}
		})
	}
}

func node(name string, controlPlane bool) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if controlPlane {
		n.Labels = map[string]string{controlPlaneLabel: ""}
	}
	return n
}

// An interrupt is not an answer.
func TestSocketCheckIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(node("one", true)).WithInterceptorFuncs(
		interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch, o client.Object,
			options ...client.CreateOption) error {
			cancel()
			return to.Create(ctx, o, options...)
		}}).Build()
	err := SocketCheck{Bound: time.Minute, Every: time.Millisecond}.Run(ctx, c, &pipeline.Notes{})
	var pods corev1.PodList
	if !errors.Is(err, context.Canceled) || c.List(t.Context(), &pods) != nil || len(pods.Items) > 0 {
		t.Errorf("%v, Pods %v", err, pods.Items)
	}
}
