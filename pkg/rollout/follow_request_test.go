package rollout

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A control plane that waits is woken again and again while it is waited for, and not after.
func TestAControlPlaneThatWaitsIsWokenNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var woken []string
		f := Follower{heartbeat: time.Hour, wake: func(_ context.Context, o *unstructured.Unstructured) error {
			woken = append(woken, o.GetKind()+"/"+o.GetName())
			return nil
		}}
		v := newView("bootstrap", wanted("a"))
		v.take(kube.Change{Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "RKE2ControlPlane",
			"metadata": map[string]any{"name": "sleeps", "namespace": "management"},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False",
				"reason": "WaitingForRKE2Server"}}}}}})
		ctx, cancel := context.WithTimeout(t.Context(), 3*wakeInterval+wakeInterval/2)
		defer cancel()
		if err := f.loop(ctx, v, make(chan kube.Change), nil, make(chan error, 1), newEar()); !errors.Is(
			err, context.DeadlineExceeded) {
			t.Errorf("the wait ended with %v", err)
		}
		if len(woken) != 3 || woken[0] != "RKE2ControlPlane/sleeps" {
			t.Errorf("woken in %s: %v", 3*wakeInterval, woken)
		}
	})
}
