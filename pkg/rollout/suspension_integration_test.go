//go:build integration

package rollout

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Where another cluster has the definition, the Kustomization that would make it stays suspended: resumed, it makes a
// second control plane, and deletes that with the machines of the first when the release takes it away.
func TestTheDefinitionOfAnotherClusterStaysSuspended(t *testing.T) {
	const of = "management/suspended"
	for _, name := range []string{"cluster", "cni", "workers-gpu"} {
		k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace,
			Annotations: map[string]string{owned.SuspendedAnnotation: of}},
			Spec: kustomizev1.KustomizationSpec{Suspend: true, Interval: metav1.Duration{Duration: time.Minute},
				SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: flux.ReleaseName}}}
		if name == "workers-gpu" {
			k.Labels = map[string]string{owned.PoolLabel: "gpu"}
		}
		if err := shared.Client.Create(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = shared.Client.Delete(t.Context(), k) })
	}
	s := Suspension{Cluster: shared.Client, Of: of}
	for _, step := range []struct {
		definition bool
		suspended  map[string]bool
	}{{false, map[string]bool{"cluster": true, "cni": false, "workers-gpu": true}},
		{true, map[string]bool{"cluster": false, "cni": false, "workers-gpu": false}}} {
		if err := s.resume(t.Context(), step.definition); err != nil {
			t.Fatal(err)
		}
		for name, want := range step.suspended {
			k := &kustomizev1.Kustomization{}
			if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: flux.Namespace, Name: name},
				k); err != nil || k.Spec.Suspend != want {
				t.Errorf("with the definition here %t, %s is suspended: %t (%v)", step.definition, name, k.Spec.Suspend,
					err)
			}
		}
	}
}
