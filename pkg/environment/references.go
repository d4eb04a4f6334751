package environment

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ReadsGit reports whether any component, in either phase, is read from its own Git repository.
func (e *Environment) ReadsGit() (bool, error) {
	for _, phase := range e.phases() {
		objects, err := e.Render(phase, nil)
		if err != nil {
			return false, err
		}
		for _, object := range objects {
			if object.GetKind() == "GitRepository" {
				return true, nil
			}
		}
	}
	return false, nil
}

// CrossesNamespaces reports whether a Kustomization of the chart refers to a source, or to what it depends on, in
// another namespace.
func (e *Environment) CrossesNamespaces(phase Phase) (bool, error) {
	objects, err := e.Render(phase, nil)
	if err != nil {
		return false, err
	}
	for _, object := range objects {
		if object.GetKind() != "Kustomization" {
			continue
		}
		source, _, _ := unstructured.NestedMap(object.Object, "spec", "sourceRef")
		dependencies, _, _ := unstructured.NestedSlice(object.Object, "spec", "dependsOn")
		for _, reference := range append(dependencies, source) {
			fields, _ := reference.(map[string]any)
			if namespace, named := fields["namespace"].(string); named && namespace != object.GetNamespace() {
				return true, nil
			}
		}
	}
	return false, nil
}
