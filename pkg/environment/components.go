package environment

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Component is one component that is enabled in a phase: one Flux Kustomization.
type Component struct {
	// Name of the component and of its Kustomization.
	Name string
	// Source is the name of the Flux source that it is read from: ReleaseName unless it has its own repository.
	Source string
	// Path of its folder in its source.
	Path string
	// Deletes reports that Flux deletes what the component installed when the component is disabled. The chart's
	// default is to keep it.
	Deletes bool
}

// Components returns what is enabled in a phase, by name. Dependencies are not checked here: the chart refuses cycles,
// and Flux waits.
func (e *Environment) Components(phase Phase) ([]Component, error) {
	objects, err := e.Render(phase, nil)
	if err != nil {
		return nil, err
	}
	return ComponentsOf(objects), nil
}

// ComponentsOf returns the components among objects of the chart, sorted by name.
func ComponentsOf(objects []*unstructured.Unstructured) []Component {
	enabled := map[string]Component{}
	for _, object := range objects {
		if name := object.GetLabels()[owned.ComponentLabel]; name != "" && object.GetKind() == "Kustomization" {
			enabled[name] = componentOf(object)
		}
	}
	var components []Component
	for _, name := range sortedKeys(enabled) {
		components = append(components, enabled[name])
	}
	return components
}

func componentOf(object *unstructured.Unstructured) Component {
	component := Component{Name: object.GetName()}
	component.Source, _, _ = unstructured.NestedString(object.Object, "spec", "sourceRef", "name")
	component.Path, _, _ = unstructured.NestedString(object.Object, "spec", "path")
	switch policy, _, _ := unstructured.NestedString(object.Object, "spec", "deletionPolicy"); policy {
	case "Delete", "WaitForTermination":
		component.Deletes = true
	case "", "MirrorPrune": // Flux's own default
		component.Deletes, _, _ = unstructured.NestedBool(object.Object, "spec", "prune")
	}
	return component
}
