package pivot

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// The control plane object can go while the rules are checked.
func TestTheVersionOfAControlPlaneThatIsGone(t *testing.T) {
	cluster := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "ns"},
		"spec": map[string]any{"controlPlaneRef": map[string]any{"kind": "KubeadmControlPlane", "name": "demo"}}}}
	moves := []capi.Object{{Kind: "KubeadmControlPlane", Namespace: "ns", Name: "demo", UID: "gone"}}
	if got := kubernetesVersion(&capi.Graph{}, moves, cluster); got != "" {
		t.Errorf("%q", got)
	}
}
