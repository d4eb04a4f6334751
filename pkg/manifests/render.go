// Package manifests shows the result of an environment before anything is created: its values, the objects of the
// chart, and what Flux would apply for each component.
package manifests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Rendered is the result of an environment in one cluster. Its lists are never null.
type Rendered struct {
	Type          string            `json:"type"` // "manifests"
	SchemaVersion int               `json:"schemaVersion"`
	Environment   string            `json:"environment"`
	Phase         environment.Phase `json:"phase"`
	// the ConfigMap and the Secrets that the HelmRelease reads
	Values     []*unstructured.Unstructured `json:"values"`
	Chart      []*unstructured.Unstructured `json:"chart"`
	Components []Component                  `json:"components"`
}

// schemaVersion is the version of the document. Additions do not change it.
const schemaVersion = 1

// Component is what Flux would apply for one component.
type Component struct {
	Name      string                       `json:"name"`
	Source    string                       `json:"source"` // name of the Flux source that it is read from
	Path      string                       `json:"path"`   // of its folder there
	DependsOn []string                     `json:"dependsOn"`
	Objects   []*unstructured.Unstructured `json:"objects"`
	Note      string                       `json:"note,omitempty"` // why there are no objects
}

// Render returns the result of env in a phase, including secrets: Masked removes them. overrides (nil: none) are the
// HelmRelease's own values, which win over all others. Components have objects only if tree is not nil: it is the
// content, including release files. A component that Flux reads from its own repository has none, and a note. Errors
// have the code EnvironmentInvalid, or that of environment.Render.
func Render(ctx context.Context, env *environment.Environment, phase environment.Phase, overrides map[string]any,
	tree content.Tree) (Rendered, error) {
	return RenderPartly(ctx, env, phase, overrides, tree, nil)
}

// RenderPartly is Render for a tree with incomplete folders: lacking says what is missing, by the path of the
// component. Such a component has that as its note, and no objects.
func RenderPartly(ctx context.Context, env *environment.Environment, phase environment.Phase, overrides map[string]any,
	tree content.Tree, lacking map[string]string) (Rendered, error) {
	r := Rendered{Type: "manifests", SchemaVersion: schemaVersion, Environment: env.Name(), Phase: phase,
		Components: []Component{}}
	var err error
	if r.Values, err = values(env, phase); err != nil {
		return r, err
	}
	if r.Chart, err = env.Render(phase, overrides); err != nil {
		return r, err
	}
	kustomizer, err := kustomizerOf(tree)
	if err != nil {
		return r, err
	}
	for _, each := range environment.ComponentsOf(r.Chart) {
		c, err := r.component(ctx, each, kustomizer, lacking[each.Path])
		if err != nil {
			return r, err
		}
		r.Components = append(r.Components, c)
	}
	return r, nil
}

// Definition returns the objects of the component cluster in the management cluster. files has the folder of the
// component.
func Definition(ctx context.Context, env *environment.Environment, files fs.FS) (
	[]*unstructured.Unstructured, error) {
	chart, err := env.Render(environment.Management, nil)
	if err != nil {
		return nil, err
	}
	r := Rendered{Chart: chart}
	for _, of := range environment.ComponentsOf(chart) {
		if of.Name != "cluster" {
			continue
		}
		tree, err := content.ReadTree(files, path.Clean(of.Path))
		if err != nil {
			return nil, fmt.Errorf("read the definition of the cluster: %w", err)
		}
		kustomizer, err := kustomizerOf(tree)
		if err != nil {
			return nil, err
		}
		c, err := r.component(ctx, of, kustomizer, "")
		return c.Objects, err
	}
	return nil, nil
}

// values are the objects that the HelmRelease of a phase reads.
func values(env *environment.Environment, phase environment.Phase) ([]*unstructured.Unstructured, error) {
	objects, err := env.Objects()
	if err != nil {
		return nil, fmt.Errorf("render the values of %s: %w", env.Name(), err)
	}
	for _, secret := range []*corev1.Secret{objects.Secrets, objects.InfraSecrets} { // as their author writes them
		secret.StringData, secret.Data = map[string]string{environment.ValuesKey: string(
			secret.Data[environment.ValuesKey])}, nil
	}
	all := []any{objects.Values, objects.Secrets, objects.InfraSecrets}
	if own := env.PhaseValues(phase); own != nil {
		all = append([]any{own}, all...)
	}
	return untyped(all)
}

// kustomizerOf returns a Kustomizer for the components in tree. For a nil tree it is nil.
func kustomizerOf(tree content.Tree) (*flux.Kustomizer, error) {
	if tree == nil {
		return nil, nil
	}
	files := filesys.MakeFsInMemory()
	for name, text := range tree {
		if err := files.WriteFile(path.Join("/", name), text); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return flux.NewKustomizer(files), nil
}

func (r Rendered) component(ctx context.Context, of environment.Component, kustomizer *flux.Kustomizer, lacks string) (
	Component, error) {
	kustomization := r.Kustomization(of.Name)
	c := Component{Name: of.Name, Source: of.Source, Path: of.Path, DependsOn: dependencies(kustomization),
		Objects: []*unstructured.Unstructured{}}
	switch {
	case of.Source != environment.ReleaseName:
		c.Note = fmt.Sprintf("read by Flux from the source %s, which was not read", of.Source)
	case lacks != "":
		c.Note = lacks
	case kustomizer == nil:
		c.Note = "not rendered"
	default:
		objects, err := kustomizer.Apply(ctx, kustomization, r.Chart)
		if err != nil {
			return c, fault.Wrap(fmt.Errorf("render component %s: %w", of.Name, err), fault.EnvironmentInvalid,
				componentHint(of, err))
		}
		c.Objects = append(c.Objects, objects...)
	}
	return c, nil
}

// componentHint is the hint for a component that cannot be rendered.
func componentHint(of environment.Component, err error) string {
	var substitution flux.SubstitutionError
	if errors.As(err, &substitution) {
		return fmt.Sprintf("Set the variable in components.%s.substitute, or write $${NAME} in %s where the "+
			"text itself is meant.", of.Name, of.Path)
	}
	return "Fix the folder " + of.Path + ", or the component's values."
}

// Kustomization is the Kustomization of a component, or an empty object if there is none.
func (r Rendered) Kustomization(name string) *unstructured.Unstructured {
	for _, object := range r.Chart {
		if object.GetKind() == "Kustomization" && object.GetName() == name {
			return object
		}
	}
	return &unstructured.Unstructured{}
}

// dependencies are the names of the Kustomizations that a Kustomization waits for.
func dependencies(kustomization *unstructured.Unstructured) []string {
	entries, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "dependsOn")
	names := []string{}
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		if name, _ := fields["name"].(string); name != "" {
			names = append(names, name)
		}
	}
	return names
}
