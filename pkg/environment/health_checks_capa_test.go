//go:build integration && capa

package environment_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// The real controller gives health checks their Cluster as the owner: by that a move takes them, and they go with the
// Cluster. Without machines they may act. While the Cluster is paused, as during a move, they do not.
func TestTheControllerTakesHealthChecks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	c := withProviders(ctx, t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "management"}}
	if err := client.IgnoreAlreadyExists(c.Create(ctx, namespace)); err != nil {
		t.Fatal(err)
	}
	env := load(t, environment.Options{Sets: []string{"cluster.control_plane.replicas=3", "cluster.workers.gpu.replicas=1"}})
	var cluster *unstructured.Unstructured
	for _, object := range applied(t, env, "cluster") {
		if object.GetKind() == "Cluster" {
			cluster = object
		}
	}
	if err := c.Create(ctx, cluster); err != nil {
		t.Fatal(err)
	}
	checks := append(applied(t, env, "health-checks"), applied(t, env, "health-checks-gpu")...)
	if len(checks) != 3 {
		t.Fatalf("%d health checks, want 3", len(checks))
	}
	for _, check := range checks {
		if err := c.Create(ctx, check); err != nil {
			t.Fatal(err)
		}
	}
	awaitChecks(ctx, t, c, checks, func(check *unstructured.Unstructured) bool {
		owners := check.GetOwnerReferences()
		return len(owners) == 1 && owners[0].Kind == "Cluster" && owners[0].UID == cluster.GetUID() &&
			isTrue(check, "RemediationAllowed")
	})
	if err := c.Patch(ctx, cluster, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"paused":true}}`))); err != nil {
		t.Fatal(err)
	}
	awaitChecks(ctx, t, c, checks, func(check *unstructured.Unstructured) bool {
		return isTrue(check, "Paused")
	})
}

func isTrue(check *unstructured.Unstructured, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(check.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		of, _ := c.(map[string]any)
		return of["type"] == condition && of["status"] == "True"
	})
}

// awaitChecks waits until all health checks are as holds says.
func awaitChecks(ctx context.Context, t *testing.T, c *kube.Cluster, checks []*unstructured.Unstructured,
	holds func(*unstructured.Unstructured) bool) {
	t.Helper()
	for _, check := range checks {
		err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true,
			func(ctx context.Context) (bool, error) {
				err := c.Get(ctx, client.ObjectKeyFromObject(check), check)
				return err == nil && holds(check), err
			})
		if err != nil {
			t.Errorf("%v: %+v", err, check.Object)
		}
	}
}
