package environment_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Ignition takes both: the provider's feature gate, and the machines' format.
func TestIgnitionIsSetWhereItIsNeeded(t *testing.T) {
	for format, gate := range map[string]string{"cloud-config": "false", "ignition": "true"} {
		env := load(t, environment.Options{Sets: []string{"cluster.bootstrap_format=" + format}})
		for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
			objects, err := env.Render(phase, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range objects {
				if o.GetKind() == "Kustomization" && o.GetName() == "cabpk" {
					got, _, _ = unstructured.NestedString(o.Object, "spec", "postBuild", "substitute",
						"EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION")
				}
			}
			if got != gate {
				t.Errorf("%s, phase %s: the gate is %q, want %s", format, phase, got, gate)
			}
		}
		paths := map[string][]string{"KubeadmControlPlane": {"spec", "kubeadmConfigSpec"},
			"KubeadmConfigTemplate": {"spec", "template", "spec"}}
		seen := 0
		for _, o := range applied(t, env, "cluster") {
			path := paths[o.GetKind()]
			if path == nil {
				continue
			}
			seen++
			spec, _, _ := unstructured.NestedMap(o.Object, path...)
			strict, _, _ := unstructured.NestedBool(spec, "ignition", "containerLinuxConfig", "strict")
			if ignites := spec["format"] == "ignition"; ignites != (format == "ignition") || strict != ignites {
				t.Errorf("%s: %s has the format %v, strict %v", format, o.GetKind(), spec["format"], strict)
			}
		}
		if seen != len(paths) {
			t.Errorf("%s: %d of %d sorts of machines", format, seen, len(paths))
		}
	}
}
