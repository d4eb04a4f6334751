package environment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// deletions returns what the owners of machines say about the deletion of one, by their names.
func deletions(t *testing.T, env *environment.Environment) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, component := range []string{"cluster", "workers-gpu"} {
		for _, o := range applied(t, env, component) {
			path := map[string][]string{
				"KubeadmControlPlane": {"spec", "machineTemplate", "spec", "deletion"},
				"RKE2ControlPlane":    {"spec", "machineTemplate"},
				"MachineDeployment":   {"spec", "template", "spec", "deletion"},
			}[o.GetKind()]
			if path == nil {
				continue
			}
			deletion, _, err := unstructured.NestedMap(o.Object, path...)
			if err != nil {
				t.Fatal(err)
			}
			delete(deletion, "infrastructureRef")
			if len(deletion) > 0 {
				found[o.GetName()] = deletion
			}
		}
	}
	return found
}

// A limit is said for each machine, and replaces none. Without one nothing is said.
func TestDrain(t *testing.T) {
	seconds := map[string]any{"nodeDrainTimeoutSeconds": int64(600), "nodeVolumeDetachTimeoutSeconds": int64(600)}
	for name, controlPlane := range map[string]map[string]any{
		"kubeadm-capd": seconds, "kubeadm-capo": seconds, "kubeadm-capa": seconds,
		"rke2-capd": {"nodeDrainTimeout": "600s", "nodeVolumeDetachTimeout": "600s"},
		"rke2-capo": {"nodeDrainTimeout": "600s", "nodeVolumeDetachTimeout": "600s"},
	} {
		t.Run(name, func(t *testing.T) {
			without, env := load(t, withPools(t, name)), load(t, withPools(t, name, "cluster.drain_seconds=600"))
			want := map[string]map[string]any{name + "-control-plane": controlPlane, name + "-workers": seconds,
				name + "-workers-gpu": seconds}
			if diff := cmp.Diff(want, deletions(t, env)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := deletions(t, without); len(got) != 0 {
				t.Errorf("without a limit it is %v", got)
			}
			before, errBefore := without.Templates()
			after, errAfter := env.Templates()
			if diff := cmp.Diff(before, after); diff != "" || errBefore != nil || errAfter != nil {
				t.Errorf("machines are replaced (%v, %v): %s", errBefore, errAfter, diff)
			}
		})
	}
}
