//go:build capa

package providers

import (
	"context"
	"fmt"
	"path"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Build returns what Flux would apply for a Kustomization that the chart made: its folder of the content with remote
// files in place, its patches, its namespace and its variables, those of Secrets in the cluster included.
func (r Releases) Build(ctx context.Context, cluster client.Client, kustomization *unstructured.Unstructured) (
	[]*unstructured.Unstructured, error) {
	name := kustomization.GetName()
	folder, _, _ := unstructured.NestedString(kustomization.Object, "spec", "path")
	tree, err := content.ReadTree(clusterinit.Content(), "kustomize-components")
	if err != nil {
		return nil, err
	}
	if tree, err = content.Localize(ctx, tree, []string{folder}, r); err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	files := filesys.MakeFsInMemory()
	for file, content := range tree {
		if err := files.WriteFile(path.Join("/", file), content); err != nil {
			return nil, err
		}
	}
	patches, _, _ := unstructured.NestedSlice(kustomization.Object, "spec", "patches")
	namespace, _, _ := unstructured.NestedString(kustomization.Object, "spec", "targetNamespace")
	overlay, err := yaml.Marshal(map[string]any{"resources": []string{path.Join("..", folder)}, "patches": patches,
		"namespace": namespace})
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile("/overlay/kustomization.yaml", overlay); err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/overlay")
	if err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		filled, err := kustomize.SubstituteVariables(ctx, cluster, *kustomization, resource)
		if err != nil {
			return nil, fmt.Errorf("component %s: %s %s: %w", name, resource.GetKind(), resource.GetName(), err)
		}
		text, err := filled.AsYAML()
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &object.Object); err != nil {
			return nil, fmt.Errorf("component %s: %s: %w", name, resource.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
