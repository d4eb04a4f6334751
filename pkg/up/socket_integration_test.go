//go:build integration

package up

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// A real API server accepts the Pod that asks a node for the Docker socket, finds the events about it, and deletes it.
func TestSocketIsAsked(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "socket",
		Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	if err := shared.Client.Create(ctx, node); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shared.Client.Delete(context.WithoutCancel(ctx), node); err != nil {
			t.Error(err)
		}
	}()
	pods := func() []corev1.Pod {
		var list corev1.PodList
		if err := shared.Client.List(ctx, &list, client.MatchingLabels{owned.ClusterLabel: "socket"}); err != nil {
			t.Error(err)
		}
		return list.Items
	}
	done := make(chan error)
	notes := &pipeline.Notes{}
	go func() {
		done <- bootstrap.SocketCheck{Cluster: "socket", Bound: 30 * time.Second, Every: 100 * time.Millisecond}.Run(ctx,
			shared.Client, notes)
	}()
	var asked []corev1.Pod
	for len(asked) == 0 && ctx.Err() == nil {
		asked = pods()
	}
	if len(asked) != 1 || asked[0].Spec.NodeName != "socket" {
		t.Fatalf("Pods: %v, warnings %q", asked, notes.Warnings)
	}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: asked[0].Namespace, Name: asked[0].Name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: asked[0].Namespace, Name: asked[0].Name,
			UID: asked[0].UID}, Reason: "FailedMount", Message: "MountVolume.SetUp failed for volume \"docker\" : " +
			"hostPath type check failed: /var/run/docker.sock is not a socket file"}
	if err := shared.Client.Create(ctx, event); err != nil {
		t.Fatal(err)
	}
	err := <-done
	if fault.CodeOf(err) != fault.DockerUnreachable || !strings.Contains(err.Error(), ": socket;") {
		t.Errorf("%v, warnings %q", err, notes.Warnings)
	}
	if left := pods(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
