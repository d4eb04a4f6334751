package environment

import (
	"cmp"
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
	controlPlaneSettingsHash = "CONTROL_PLANE_SETTINGS_HASH" // of cluster.kubernetes; no manifest has it
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

// Defined is a Kustomization that defines machines, with their templates.
type Defined struct {
	Kustomization client.ObjectKey
	// Deployment is the MachineDeployment of a further pool of workers; empty for the control plane and the pool
	// `workers`.
	Deployment string
	Templates
}

// Templates returns those that the environment requests. The first one is that of the component `cluster`, which also
// has the control plane; further pools of workers follow by name.
func (e *Environment) Templates() ([]Defined, error) {
	definitions, err := e.definitions()
	if err != nil {
		return nil, err
	}
	var all []Defined
	for _, definition := range definitions {
		variables, _, err := unstructured.NestedStringMap(definition.Object, "spec", "postBuild", "substitute")
		if err != nil {
			return nil, err
		}
		d := Defined{Kustomization: client.ObjectKeyFromObject(definition), Templates: TemplatesOf(variables)}
		if pool := definition.GetLabels()[owned.PoolLabel]; pool != "" {
			d.Deployment = e.ClusterName() + "-workers-" + pool
		}
		all = append(all, d)
	}
	return all, nil
}

// TemplatesOf reads them from the variables of a Kustomization.
func TemplatesOf(variables map[string]string) Templates {
	t := Templates{
		cmp.Or(variables[controlPlaneTemplateHash], variables[templateHash]),
		cmp.Or(variables[workerTemplateHash], variables[templateHash]),
	}
	// A control plane is also replaced for these, with the same template.
	t.ControlPlane += " " + variables["CONTROL_PLANE_TAINTS"]
	if settings := variables[controlPlaneSettingsHash]; settings != "" {
		t.ControlPlane += " " + settings
	}
	return t
}

// definition is the Kustomization of the component `cluster`, whether or not the values are consistent.
func (e *Environment) definition() (*unstructured.Unstructured, error) {
	all, err := e.definitions()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// definitions are that Kustomization and those of the further pools of workers.
func (e *Environment) definitions() ([]*unstructured.Unstructured, error) {
	objects, err := e.renderOnly("templates/kustomizations.yaml")
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, object := range objects {
		labels := object.GetLabels()
		if object.GetKind() == "Kustomization" &&
			(labels[owned.ComponentLabel] == "cluster" || labels[owned.PoolLabel] != "") {
			all = append(all, object)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("chart " + ReleaseName + " renders no component cluster")
	}
	return all, nil
}

// renderOnly returns the objects of one template of the chart, whether or not the values are consistent.
func (e *Environment) renderOnly(template string) ([]*unstructured.Unstructured, error) {
	unchecked := *e
	unchecked.schema, unchecked.rendered = nil, nil
	unchecked.chart = e.chart.Only(func(name string) bool { return isNamedTemplates(name) || name == template })
	return unchecked.Render(e.lasting(), nil)
}
