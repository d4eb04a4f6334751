package evidence

import (
	"context"
	"encoding/base64"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// collectedGroups returns the suffixes of API groups of which every kind is collected, also of unknown providers: Flux,
// Cluster API, and what they depend on.
func collectedGroups() []string {
	return []string{"toolkit.fluxcd.io", "cluster.x-k8s.io", "cert-manager.io", "k-orc.cloud"}
}

// builtInKinds returns Kubernetes' own kinds that show the state of controllers and machines.
func builtInKinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "namespaces"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "events"},
		{Version: "v1", Resource: "configmaps"},
	}
}

// objects writes one file per kind.
func objects(ctx context.Context, f *folder, cluster *kube.Cluster) {
	for _, resource := range append(customKinds(ctx, f, cluster), builtInKinds()...) {
		name := resource.GroupResource().String()
		bounded(ctx, f, fmt.Sprintf("%s of the %s cluster", name, cluster.Name), func(ctx context.Context) error {
			list, err := cluster.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			var found []map[string]any
			for _, o := range list.Items {
				found = append(found, trimmed(o))
			}
			f.objects(cluster.Name+"/objects/"+name+".yaml", fmt.Sprintf("all of this kind: %d", len(found)), found)
			return nil
		})
	}
}

// customKinds returns the served kinds of collectedGroups, each in the preferred version.
func customKinds(ctx context.Context, f *folder, cluster *kube.Cluster) []schema.GroupVersionResource {
	var found []schema.GroupVersionResource
	bounded(ctx, f, "some kinds of the "+cluster.Name+" cluster", func(ctx context.Context) error {
		served, err := cluster.Served(ctx)
		for _, kind := range kube.InGroups(served, collectedGroups()...) {
			found = append(found, kind.Resource)
		}
		return err
	})
	return found
}

// trimmed replaces the values of a ConfigMap with their sizes: those of binary data, and those of data if they exceed
// the limit together.
func trimmed(o unstructured.Unstructured) map[string]any {
	if o.GetKind() == "ConfigMap" {
		const maxDataBytes = 16 << 10
		for _, field := range []string{"data", "binaryData"} {
			data, _, _ := unstructured.NestedStringMap(o.Object, field)
			size := 0
			for _, value := range data {
				size += len(value)
			}
			if size <= maxDataBytes && field == "data" {
				continue
			}
			for key, value := range data {
				if raw, err := base64.StdEncoding.DecodeString(value); err == nil && field == "binaryData" {
					value = string(raw)
				}
				// No error is possible: NestedStringMap has read the same field.
				_ = unstructured.SetNestedField(o.Object, fmt.Sprintf("(%d bytes are left out)", len(value)), field,
					key)
			}
		}
	}
	return o.Object
}
