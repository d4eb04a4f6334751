package capi

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extensionKinds are the served versions of one kind. The fields that are read are the same in all.
var extensionKinds = []schema.GroupVersionKind{
	{Group: "runtime.cluster.x-k8s.io", Version: "v1beta2", Kind: "ExtensionConfig"},
	{Group: "runtime.cluster.x-k8s.io", Version: "v1alpha1", Kind: "ExtensionConfig"},
}

// Extensions returns the discovered handlers of a cluster's ExtensionConfigs, by name, as ClusterClasses name them.
func Extensions(ctx context.Context, c client.Reader) (map[string][]string, error) {
	all := map[string][]string{}
	for _, kind := range extensionKinds {
		err := listEach(ctx, c, kind, func(u *unstructured.Unstructured) error {
			handlers, _, _ := unstructured.NestedSlice(u.Object, "status", "handlers")
			names := []string{}
			for _, h := range handlers {
				fields, _ := h.(map[string]any)
				if name, _ := fields["name"].(string); name != "" {
					names = append(names, name)
				}
			}
			all[u.GetName()] = names
			return nil
		})
		if err != nil || len(all) > 0 {
			return all, err
		}
	}
	return all, nil
}

// ExtensionsOf returns the handlers of extensions that a ClusterClass names, sorted: each is HANDLER.EXTENSIONCONFIG.
func ExtensionsOf(class *unstructured.Unstructured) []string {
	var names []string
	collect := func(external map[string]any) {
		for field, value := range external {
			if name, _ := value.(string); name != "" && strings.HasSuffix(field, "Extension") {
				names = append(names, name)
			}
		}
	}
	patches, _, _ := unstructured.NestedSlice(class.Object, "spec", "patches")
	for _, patch := range patches {
		fields, _ := patch.(map[string]any)
		external, _ := fields["external"].(map[string]any)
		collect(external)
	}
	upgrade, _, _ := unstructured.NestedMap(class.Object, "spec", "upgrade", "external")
	collect(upgrade)
	slices.Sort(names)
	return slices.Compact(names)
}
