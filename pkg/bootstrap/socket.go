package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// SocketCheck asks the nodes of a user's own bootstrap cluster whether they have the Docker engine's socket. Cluster
// API's provider for Docker mounts it there.
//
// It creates a Pod on each node that mounts the path as a socket, and whose image is never pulled: no container starts.
// The kubelet refuses the mount, or mounts it and then reports that the image is missing.
type SocketCheck struct {
	Cluster string // the management cluster
	Bound   time.Duration
	Every   time.Duration // pause between two looks at the Pods
}

const (
	// dockerSocket is where the provider expects the socket, see its manifests.
	dockerSocket = "/var/run/docker.sock"
	// controlPlaneLabel is on the nodes that kustomize-components/capd lets the provider run on.
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// neverPulled is an image that cannot exist: .invalid is never a domain.
	neverPulled = "cluster-init.invalid/never-pulled:v1"
	// typeCheckFailed is in the kubelet's event about a path that is not of the type that a volume names.
	typeCheckFailed   = "hostPath type check failed"
	eventOfObject     = "involvedObject.uid"
	socketCheckPrefix = "cluster-init-docker-socket-"
)

// errSocketMissing is the answer of a node without the socket.
var errSocketMissing = errors.New("it has no socket " + dockerSocket)

// Run fails if a node is known to lack the socket. It warns of nodes that gave no answer.
func (s SocketCheck) Run(ctx context.Context, c client.Client, report pipeline.Reporter) error {
	ctx, cancel := context.WithTimeout(ctx, s.Bound)
	defer cancel()
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes, client.HasLabels{controlPlaneLabel}); err != nil {
		report.Warn("it is not known whether the bootstrap cluster's nodes have %s: list nodes: %s", dockerSocket, err)
		return nil
	}
	nodes.Items = slices.DeleteFunc(nodes.Items, func(n corev1.Node) bool { return n.Spec.Unschedulable })
	if len(nodes.Items) == 0 {
		return fault.New(fault.DockerUnreachable, "the cluster of --bootstrap-kubeconfig has no schedulable node with "+
			"the label "+controlPlaneLabel+", and Cluster API's provider for Docker runs only on such a node",
			socketHint)
	}
	answers := make([]error, len(nodes.Items))
	var all sync.WaitGroup
	for i, node := range nodes.Items {
		all.Go(func() { answers[i] = s.ask(ctx, c, node.Name) })
	}
	all.Wait()
	var without []string
	for i, err := range answers {
		switch name := nodes.Items[i].Name; {
		case errors.Is(err, errSocketMissing):
			without = append(without, name)
		case errors.Is(ctx.Err(), context.Canceled):
			return fmt.Errorf("check node %s for %s: %w", name, dockerSocket, context.Cause(ctx))
		case err != nil:
			report.Warn("it is not known whether node %s of the bootstrap cluster has %s: %s", name, dockerSocket, err)
		}
	}
	if len(without) > 0 {
		return fault.New(fault.DockerUnreachable, fmt.Sprintf("no Docker socket %s on nodes of the cluster of "+
			"--bootstrap-kubeconfig: %s; Cluster API's provider for Docker makes machines through it", dockerSocket,
			strings.Join(without, ", ")), socketHint)
	}
	return nil
}

const socketHint = "Leave out --bootstrap-kubeconfig, or give it a cluster whose control-plane nodes have the " +
	"engine's socket (kind: extraMounts)."

// ask returns errSocketMissing if the node says so, nil if it has the socket, and another error if that is not known.
func (s SocketCheck) ask(ctx context.Context, c client.Client, node string) (err error) {
	pod := s.pod(node)
	if err := c.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) { // a killed run left it
		return fmt.Errorf("create a Pod: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if gone := client.IgnoreNotFound(c.Delete(ctx, pod, client.GracePeriodSeconds(0))); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete Pod %s/%s: %w", pod.Namespace, pod.Name, gone))
		}
	}()
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	seen := errors.New("its kubelet has not answered yet")
	for {
		switch answered, err := s.look(ctx, c, pod); {
		case answered:
			return err
		case err != nil:
			seen = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s: %w", s.Bound, seen)
		case <-tick.C:
		}
	}
}

// look reads what the kubelet says of the Pod. answered is false as long as that says nothing about the socket.
func (s SocketCheck) look(ctx context.Context, c client.Client, pod *corev1.Pod) (answered bool, err error) {
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return false, err
	}
	for _, status := range pod.Status.ContainerStatuses {
		// The kubelet looks for the image only after it has mounted all volumes. Some API servers make each image one
		// that is pulled.
		if w := status.State.Waiting; w != nil &&
			slices.Contains([]string{"ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff"}, w.Reason) {
			return true, nil
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return true, fmt.Errorf("the node refused the Pod: %s %s", pod.Status.Reason, pod.Status.Message)
	}
	var events corev1.EventList
	if err := c.List(ctx, &events, client.InNamespace(pod.Namespace),
		client.MatchingFields{eventOfObject: string(pod.UID)}); err != nil {
		return false, err
	}
	for _, e := range events.Items {
		if e.Reason == "FailedMount" && strings.Contains(e.Message, typeCheckFailed) {
			return true, errSocketMissing
		}
	}
	return false, nil
}

// pod is the Pod that asks a node. Its name is always the same, so that the next run finds one that was left behind.
func (s SocketCheck) pod(node string) *corev1.Pod {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(node)) // it never fails
	isSocket, no, immediately := corev1.HostPathSocket, false, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault,
			Name:   fmt.Sprintf("%s%08x", socketCheckPrefix, hash.Sum32()),
			Labels: map[string]string{owned.ClusterLabel: s.Cluster}},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: &no, RestartPolicy: corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: &immediately,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "none", Image: neverPulled, ImagePullPolicy: corev1.PullNever,
				VolumeMounts: []corev1.VolumeMount{{Name: "docker", MountPath: dockerSocket, ReadOnly: true}}}},
			Volumes: []corev1.Volume{{Name: "docker", VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: dockerSocket, Type: &isSocket}}}},
		},
	}
}
