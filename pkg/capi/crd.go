package capi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// MoveLabel is the label key that a CRD must carry for clusterctl to see its objects, with any value.
const MoveLabel = clusterctlv1.ClusterctlLabel

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// CRD is the part of a CustomResourceDefinition that a move needs.
type CRD struct {
	Name       string                  // <plural>.<group>
	GVK        schema.GroupVersionKind // with the storage version, which clusterctl uses, or the preferred one
	Namespaced bool
	Labels     map[string]string
	Served     []string // the versions that the API serves; empty if not read
}

// Resource is the name of its resources in URLs and in permissions.
func (c CRD) Resource() string {
	resource, _, _ := strings.Cut(c.Name, ".")
	return resource
}

// LabelledCRDs returns the CRDs that carry MoveLabel, by name.
func LabelledCRDs(ctx context.Context, c client.Reader) ([]CRD, error) {
	definitions, err := kube.Definitions(ctx, c, client.HasLabels{MoveLabel})
	if err != nil {
		return nil, err
	}
	var crds []CRD
	for _, d := range definitions {
		if d.Spec.Group != clusterctlv1.GroupVersion.Group { // clusterctl's own inventory is never moved
			crds = append(crds, readCRD(d))
		}
	}
	slices.SortFunc(crds, func(a, b CRD) int { return strings.Compare(a.Name, b.Name) })
	return crds, nil
}

// servedKinds returns the CRDs that carry MoveLabel, by name, with the version that the API server prefers. It leaves
// Served empty, because it reads no schemas, which are megabytes. It omits a CRD that the API server does not serve.
func servedKinds(ctx context.Context, c client.Client) ([]CRD, error) {
	labelled := &metav1.PartialObjectMetadataList{}
	labelled.SetGroupVersionKind(crdKind.GroupVersion().WithKind(crdKind.Kind + "List"))
	if err := c.List(ctx, labelled, client.HasLabels{MoveLabel}); err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	var crds []CRD
	for _, item := range labelled.Items {
		resource, group, _ := strings.Cut(item.Name, ".")
		if group == clusterctlv1.GroupVersion.Group {
			continue // clusterctl's own inventory is never moved
		}
		gvk, err := c.RESTMapper().KindFor(schema.GroupVersionResource{Group: group, Resource: resource})
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up the kind of %s: %w", item.Name, err)
		}
		mapping, err := c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			return nil, fmt.Errorf("look up the scope of %s: %w", item.Name, err)
		}
		crds = append(crds, CRD{Name: item.Name, GVK: gvk, Labels: item.Labels,
			Namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace})
	}
	slices.SortFunc(crds, func(a, b CRD) int { return strings.Compare(a.Name, b.Name) })
	return crds, nil
}

// UnlabelledCRDs returns the CRDs of Cluster API and its providers that lack MoveLabel, by name. A CRD is one of
// theirs by its API group (cluster.x-k8s.io and below, and that of the OpenStack Resource Controller) or by the
// provider label.
func UnlabelledCRDs(ctx context.Context, c client.Reader) ([]CRD, error) {
	names := &metav1.PartialObjectMetadataList{}
	names.SetGroupVersionKind(crdKind.GroupVersion().WithKind(crdKind.Kind + "List"))
	if err := c.List(ctx, names); err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	var crds []CRD
	for _, item := range names.Items {
		if _, labelled := item.Labels[MoveLabel]; labelled || !isProviderCRD(item) {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, client.ObjectKey{Name: item.Name}, &crd); err != nil {
			return nil, fmt.Errorf("get CustomResourceDefinition %s: %w", item.Name, err)
		}
		crds = append(crds, readCRD(crd))
	}
	slices.SortFunc(crds, func(a, b CRD) int { return strings.Compare(a.Name, b.Name) })
	return crds, nil
}

// OfResourceController reports whether an object belongs to the OpenStack Resource Controller, whose controllers know
// nothing of Clusters and do not pause with them.
func (o Object) OfResourceController() bool { return o.Key().Group == orcGroup }

// orcGroup is the API group of the OpenStack Resource Controller, which the infrastructure provider for OpenStack
// relies on.
const orcGroup = "openstack.k-orc.cloud"

func isProviderCRD(crd metav1.PartialObjectMetadata) bool {
	_, group, _ := strings.Cut(crd.Name, ".")
	if group == clusterctlv1.GroupVersion.Group {
		return false
	}
	_, labelled := crd.Labels[clusterv1.ProviderNameLabel]
	return labelled || group == orcGroup || group == clusterv1.GroupVersion.Group ||
		strings.HasSuffix(group, "."+clusterv1.GroupVersion.Group)
}

func readCRD(d apiextensionsv1.CustomResourceDefinition) CRD {
	crd := CRD{Name: d.Name, Labels: d.Labels, Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		GVK: schema.GroupVersionKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			crd.GVK.Version = v.Name
		}
		if v.Served {
			crd.Served = append(crd.Served, v.Name)
		}
	}
	return crd
}
