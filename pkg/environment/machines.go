package environment

import (
	"errors"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Variables of the manifests that name the machine templates: those of all machines, or of one role.
const (
	templateHash             = "TEMPLATE_HASH"
	controlPlaneTemplateHash = "CONTROL_PLANE_TEMPLATE_HASH"
	workerTemplateHash       = "WORKER_TEMPLATE_HASH"
)

// Templates are what identifies the machine templates of each role: if it differs, the machines of that role are
// replaced.
type Templates struct{ ControlPlane, Workers string }

// TemplateHashes returns the variables that name the machine templates in the management cluster.
func (e *Environment) TemplateHashes() (map[string]string, error) {
	definition, err := e.definition()
	if err != nil {
		return nil, err
	}
	variables, _, err := unstructured.NestedStringMap(definition.Object, "spec", "postBuild", "substitute")
	maps.DeleteFunc(variables, func(name, _ string) bool { return !strings.HasSuffix(name, templateHash) })
	return variables, err
}

// Templates returns those that the environment requests, and the Kustomization that carries them.
func (e *Environment) Templates() (Templates, client.ObjectKey, error) {
	definition, err := e.definition()
	if err != nil {
		return Templates{}, client.ObjectKey{}, err
	}
	variables, _, err := unstructured.NestedStringMap(definition.Object, "spec", "postBuild", "substitute")
	return TemplatesOf(variables), client.ObjectKeyFromObject(definition), err
}

// TemplatesOf reads them from the variables of a Kustomization.
func TemplatesOf(variables map[string]string) Templates {
	t := Templates{variables[controlPlaneTemplateHash], variables[workerTemplateHash]}
	if t.ControlPlane == "" && t.Workers == "" {
		t = Templates{variables[templateHash], variables[templateHash]}
	}
	// A control plane is also replaced for these, with the same template.
	t.ControlPlane += " " + variables["CONTROL_PLANE_TAINTS"]
	return t
}

// definition is the Kustomization of the component `cluster`, whether or not the values are consistent.
func (e *Environment) definition() (*unstructured.Unstructured, error) {
	unchecked := *e
	unchecked.schema, unchecked.rendered = nil, nil
	unchecked.chart = e.chart.Only(func(template string) bool {
		return isNamedTemplates(template) || template == "templates/kustomizations.yaml"
	})
	objects, err := unchecked.Render(e.lasting(), nil)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.GetKind() == "Kustomization" && object.GetLabels()[owned.ComponentLabel] == "cluster" {
			return object, nil
		}
	}
	return nil, errors.New("chart " + ReleaseName + " renders no component cluster")
}
