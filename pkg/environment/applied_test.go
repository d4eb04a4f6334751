package environment_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

func newKustomizer(t *testing.T) *flux.Kustomizer {
	t.Helper()
	files, _ := components(t)
	return flux.NewKustomizer(files)
}

// applied returns what Flux applies for a component of the management cluster.
func applied(t *testing.T, env *environment.Environment, component string) []*unstructured.Unstructured {
	t.Helper()
	return appliedIn(t, env, environment.Management, component)
}

// appliedIn is applied for a phase. Of a workload cluster, the Kustomization has a name of its own.
func appliedIn(t *testing.T, env *environment.Environment, phase environment.Phase,
	component string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := env.Render(phase, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range rendered {
		if object.GetKind() == "Kustomization" &&
			(object.GetName() == component || object.GetLabels()[owned.ComponentLabel] == component) {
			objects, err := newKustomizer(t).Apply(t.Context(), object, rendered)
			if err != nil {
				t.Fatalf("component %s: %v", component, err)
			}
			return objects
		}
	}
	t.Fatalf("component %s is not rendered", component)
	return nil
}
