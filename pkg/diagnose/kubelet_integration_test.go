//go:build integration

package diagnose

import (
	"context"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/readiness"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTakeWhatAKubeletSays has a real API server tell what a kubelet would have written there, where the lab cannot
// have it happen: its engine bounds no memory, and machines share the disk of their host. The Pod is a Deployment's of
// kube-system, so that the run waits for it.
func TestTakeWhatAKubeletSays(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := func(reason, message string, code int32) corev1.PodStatus {
		state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, Message: message,
			ExitCode: code}}
		return corev1.PodStatus{Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", RestartCount: 4, LastTerminationState: state,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
					Message: "back-off 1m20s restarting failed container"}}}}}
	}
	waits := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason,
					Message: message}}}}}
	}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		rule   string
	}{
		"more memory than it may have": {ended("OOMKilled", "", 137), "pod-out-of-memory"},
		"a limit too low to start at all": {waits("RunContainerError", "failed to create containerd task: runc "+
			"create failed: container init was OOM-killed (memory limit too low?)"), "pod-memory-limit"},
		"thrown out for a full disk": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted",
			Message: "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 900Mi."},
			"pod-disk-full"},
		"thrown out for want of memory": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted",
			Message: "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi."},
			"pod-evicted"},
		"no inotify instances on the host": {ended("Error", "failed to create fsnotify watcher: too many open files",
			1), "pod-inotify"},
		"an image for another architecture": {ended("Error", "exec /manager: exec format error", 255),
			"pod-architecture"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := runsBadly(ctx, t, tc.status)
			findings := examined(ctx, t)
			if len(findings) != 1 || findings[0].Rule != tc.rule || findings[0].Object != "Pod/kube-system/"+pod.Name {
				t.Errorf("%+v", findings)
			}
		})
	}
	for condition, message := range map[corev1.NodeConditionType]string{corev1.NodeMemoryPressure: "kubelet has insufficient memory available", corev1.NodeDiskPressure: "kubelet has disk pressure"} {
		t.Run(string(condition), func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "full"}}
			provoke(ctx, t, node)
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				Reason: "KubeletReady"}, {Type: condition, Status: corev1.ConditionTrue, Message: message}}
			says(ctx, t, node)
			if findings := examined(ctx, t); len(findings) != 1 || findings[0].Rule != "node-pressure" ||
				findings[0].Object != "Node/full" {
				t.Errorf("%+v", findings)
			}
		})
	}
}

// runsBadly makes a Deployment whose Pod is in a state.
func runsBadly(ctx context.Context, t *testing.T, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	labels := map[string]string{"app": "bad"}
	spec := corev1.PodSpec{NodeName: "no-such-node", Containers: []corev1.Container{{Name: "c", Image: "registry.lab/x:v1"}}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	meta := func(owner client.Object, kind string) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Namespace: "kube-system", Name: "bad", Labels: labels}
		if owner != nil {
			m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "bad",
				UID: owner.GetUID(), Controller: new(true)}}
		}
		return m
	}
	deployment := &appsv1.Deployment{ObjectMeta: meta(nil, ""), Spec: appsv1.DeploymentSpec{Selector: selector,
		Template: template}}
	provoke(ctx, t, deployment)
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: 1,
		UpdatedReplicas: 1, UnavailableReplicas: 1}
	says(ctx, t, deployment)
	set := &appsv1.ReplicaSet{ObjectMeta: meta(deployment, "Deployment"),
		Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}
	provoke(ctx, t, set)
	set.Status = appsv1.ReplicaSetStatus{ObservedGeneration: set.Generation, Replicas: 1}
	says(ctx, t, set)
	pod := &corev1.Pod{ObjectMeta: meta(set, "ReplicaSet"), Spec: spec}
	provoke(ctx, t, pod)
	pod.Status = status
	says(ctx, t, pod)
	return pod
}

// provoke creates an object and has it removed at the end.
func provoke(ctx context.Context, t *testing.T, o client.Object) {
	t.Helper()
	shared.Create(ctx, t, o)
	t.Cleanup(func() {
		if err := shared.Client.Delete(context.WithoutCancel(ctx), o, client.GracePeriodSeconds(0)); err != nil {
			t.Error(err)
		}
	})
}

// says writes the status of an object, as its controller or a kubelet does.
func says(ctx context.Context, t *testing.T, o client.Object) {
	t.Helper()
	if err := shared.Client.Status().Update(ctx, o); err != nil {
		t.Fatal(err)
	}
}

// examined is what diagnose finds in the server, apart from what other tests have left to Flux.
func examined(ctx context.Context, t *testing.T) []Finding {
	t.Helper()
	listed := readiness.Observe(ctx, shared.Client)
	if len(listed.NotChecked) > 0 {
		t.Fatal(listed.NotChecked)
	}
	s := NewSnapshot(listed)
	findings, _ := s.examine(s.roots(side{suspendedForPivot: true}), readRules(t))
	return findings
}
