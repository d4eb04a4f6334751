//go:build bench

package bench

import (
	"context"
	"fmt"
	"path"
	"sort"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// manifests are what Flux would apply in one cluster, in parts that can be applied on their own.
type manifests struct {
	namespaces  []*unstructured.Unstructured // that the chart itself makes
	certManager []*unstructured.Unstructured
	providers   []*unstructured.Unstructured // capi, cabpk, capd and all else that has no part of its own
	cni         []*unstructured.Unstructured
	cluster     []*unstructured.Unstructured // the management cluster's definition
}

// renderManifests does in memory what kustomize-controller does with each Kustomization of a phase: patches, target
// namespace, build, variables.
func renderManifests(ctx context.Context, env *environment.Environment, b *bundle.Bundle, phase environment.Phase) (
	manifests, error) {
	files, err := components(ctx, env, b)
	if err != nil {
		return manifests{}, err
	}
	rendered, err := env.Render(phase, nil)
	if err != nil {
		return manifests{}, err
	}
	var m manifests
	for _, o := range rendered {
		switch o.GetKind() {
		case "Namespace":
			m.namespaces = append(m.namespaces, o)
		case "Kustomization":
			objects, err := build(ctx, files, o)
			if err != nil {
				return manifests{}, fmt.Errorf("component %s: %w", o.GetName(), err)
			}
			part := m.part(o.GetName())
			*part = append(*part, objects...)
		}
	}
	for _, part := range [][]*unstructured.Unstructured{m.certManager, m.providers, m.cni, m.cluster} {
		sort.Stable(ssa.SortableUnstructureds(part)) // definitions and namespaces first, as Flux does
	}
	return m, nil
}

func (m *manifests) part(component string) *[]*unstructured.Unstructured {
	switch component {
	case "cert-manager":
		return &m.certManager
	case "cni":
		return &m.cni
	case "cluster":
		return &m.cluster
	}
	return &m.providers
}

// components returns kustomize-components with the bundle's copies of all remote resources.
func components(ctx context.Context, env *environment.Environment, b *bundle.Bundle) (filesys.FileSystem, error) {
	paths, err := env.ComponentPaths()
	if err != nil {
		return nil, err
	}
	profile, err := b.Profile()
	if err != nil {
		return nil, err
	}
	tree, err := content.Components(clusterinit.Content(), profile)
	if err != nil {
		return nil, err
	}
	if tree, err = content.Localize(ctx, tree, paths, b); err != nil {
		return nil, err
	}
	files := filesys.MakeFsInMemory()
	for name, content := range tree {
		if err := files.WriteFile("/"+name, content); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func build(ctx context.Context, files filesys.FileSystem, kustomization *unstructured.Unstructured) (
	[]*unstructured.Unstructured, error) {
	spec, _, err := unstructured.NestedMap(kustomization.Object, "spec")
	if err != nil {
		return nil, err
	}
	folder, _ := spec["path"].(string)
	overlay, err := yaml.Marshal(map[string]any{
		"resources": []string{path.Join("..", "..", folder)}, "patches": spec["patches"],
		"namespace": spec["targetNamespace"],
	})
	if err != nil {
		return nil, err
	}
	at := "/overlay/" + kustomization.GetName()
	if err := files.WriteFile(at+"/kustomization.yaml", overlay); err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, at)
	if err != nil {
		return nil, err
	}
	return substitute(ctx, resources, kustomization)
}

// substitute fills variables in as Flux does, but none from Secrets.
func substitute(ctx context.Context, resources resmap.ResMap, kustomization *unstructured.Unstructured) (
	[]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		name := resource.GetKind() + " " + resource.GetName()
		filled, err := kustomize.SubstituteVariables(ctx, nil, *kustomization, resource, kustomize.SubstituteWithDryRun(
			true))
		if err != nil {
			return nil, fmt.Errorf("variables of %s: %w", name, err)
		}
		content, err := filled.MarshalJSON()
		o := &unstructured.Unstructured{}
		if err == nil {
			err = o.UnmarshalJSON(content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s with its variables: %w", name, err)
		}
		objects = append(objects, o)
	}
	return objects, nil
}
