package rollout

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ReleaseInputs returns everything that a cluster's own release is made from, see InputsOf.
func ReleaseInputs(ctx context.Context, c client.Reader) ([]*unstructured.Unstructured, error) {
	return InputsOf(ctx, c, ownRelease())
}

// InputsOf returns everything that a release is made from, for a backup: the HelmRelease, the ConfigMaps and Secrets
// with its values, its sources and their Secrets. It fails if something that the release names is missing and not
// optional.
func InputsOf(ctx context.Context, c client.Reader, key client.ObjectKey) ([]*unstructured.Unstructured, error) {
	k := keeping{ctx: ctx, client: c, namespace: key.Namespace, have: map[string]bool{}}
	release := k.read(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind), key.Name, false)
	if k.err != nil {
		return nil, k.err
	}
	values, _, _ := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
	for _, each := range values {
		ref, _ := each.(map[string]any)
		optional, _, _ := unstructured.NestedBool(ref, "optional")
		k.read(schema.GroupVersionKind{Version: "v1", Kind: text(ref, "kind")}, text(ref, "name"), optional)
	}
	for _, path := range [][]string{{"spec", "chartRef"}, {"spec", "chart", "spec", "sourceRef"},
		{"spec", "values", "source"}} {
		ref, _, _ := unstructured.NestedMap(release.Object, path...)
		if text(ref, "name") != "" {
			k.source(text(ref, "kind"), text(ref, "name"))
		}
	}
	return k.found, k.err
}

// Labelled returns the HelmReleases with a label. A cluster without Flux has none.
func Labelled(ctx context.Context, c client.Reader, label string) ([]client.ObjectKey, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind + "List"))
	if err := c.List(ctx, list, client.HasLabels{label}); err != nil && !kube.NotServed(err) {
		return nil, fmt.Errorf("list the HelmReleases with the label %s: %w", label, err)
	}
	var keys []client.ObjectKey
	for i := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return keys, nil
}

// keeping collects objects of a release's namespace, each once, until the first error.
type keeping struct {
	ctx       context.Context
	namespace string
	client    client.Reader
	have      map[string]bool
	found     []*unstructured.Unstructured
	err       error
}

// source reads a source and the Secrets that it names.
func (k *keeping) source(kind, name string) {
	source := k.read(sourcev1.GroupVersion.WithKind(kind), name, false)
	if source == nil {
		return
	}
	for _, path := range [][]string{{"spec", "secretRef"}, {"spec", "certSecretRef"}, {"spec", "proxySecretRef"},
		{"spec", "verify", "secretRef"}} {
		ref, _, _ := unstructured.NestedMap(source.Object, path...)
		if name := text(ref, "name"); name != "" {
			k.read(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, name, false)
		}
	}
}

// read returns nil if there is nothing more to do: the object was read before, an error came first, or it is optional
// and missing.
func (k *keeping) read(gvk schema.GroupVersionKind, name string, optional bool) *unstructured.Unstructured {
	if k.err != nil || k.have[gvk.Kind+"/"+name] {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	switch err := k.client.Get(k.ctx, client.ObjectKey{Namespace: k.namespace, Name: name}, u); {
	case apierrors.IsNotFound(err) && optional:
		return nil
	case err != nil:
		k.err = fmt.Errorf("read %s %s/%s: %w", gvk.Kind, k.namespace, name, err)
		return nil
	}
	k.have[gvk.Kind+"/"+name] = true
	k.found = append(k.found, u)
	return u
}

func text(fields map[string]any, key string) string {
	value, _ := fields[key].(string)
	return value
}
