package environment

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Component is one component that is enabled in a phase: one Flux Kustomization.
type Component struct {
	// Name of the component and of its Kustomization.
	Name string
	// Namespace of the Kustomization.
	Namespace string
	// DependsOn are the names of the components that must be ready before it.
	DependsOn []string
	// Source is the name of the Flux source that it is read from: ReleaseName unless it has a repository of its own.
	Source string
	// Path of its folder in its source.
	Path string
	// Timeout is how long Flux gives it to become healthy; zero when it is not a duration.
	Timeout time.Duration
}

// Components returns what is enabled in a phase, each after what it depends on, by name where there is a choice.
// overrides is what the HelmRelease's own spec.values holds.
func (e *Environment) Components(phase Phase, overrides map[string]any) ([]Component, error) {
	objects, err := e.Render(phase, overrides)
	if err != nil {
		return nil, err
	}
	left := map[string]Component{}
	for _, object := range objects {
		if name := object.GetLabels()[owned.ComponentLabel]; name != "" && object.GetKind() == "Kustomization" {
			left[name] = componentOf(object)
		}
	}
	for name, component := range left {
		// Pull secrets are dependencies too, but no components.
		component.DependsOn = slices.DeleteFunc(component.DependsOn, func(other string) bool { _, ok := left[other]; return !ok })
		left[name] = component
	}
	var ordered []Component
	for len(left) > 0 {
		// The chart has refused cycles: there is always one that waits for none of the others.
		for _, name := range sortedKeys(left) {
			if slices.ContainsFunc(left[name].DependsOn, func(other string) bool { _, waits := left[other]; return waits }) {
				continue
			}
			ordered = append(ordered, left[name])
			delete(left, name)
			break
		}
	}
	return ordered, nil
}

func componentOf(object *unstructured.Unstructured) Component {
	component := Component{Name: object.GetName(), Namespace: object.GetNamespace()}
	component.Source, _, _ = unstructured.NestedString(object.Object, "spec", "sourceRef", "name")
	component.Path, _, _ = unstructured.NestedString(object.Object, "spec", "path")
	timeout, _, _ := unstructured.NestedString(object.Object, "spec", "timeout")
	component.Timeout, _ = time.ParseDuration(timeout)
	dependencies, _, _ := unstructured.NestedSlice(object.Object, "spec", "dependsOn")
	for _, dependency := range dependencies {
		if reference, ok := dependency.(map[string]any); ok {
			name, _ := reference["name"].(string)
			component.DependsOn = append(component.DependsOn, name)
		}
	}
	return component
}
