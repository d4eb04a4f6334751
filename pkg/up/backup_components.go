package up

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

const (
	fluxGroups  = ".toolkit.fluxcd.io"
	sourceGroup = "source" + fluxGroups
)

// fluxVersions returns the version in which a backup reads each API group of Flux whose objects components use.
func fluxVersions() map[string]string {
	return map[string]string{"helm" + fluxGroups: "v2", "kustomize" + fluxGroups: "v1", sourceGroup: "v1"}
}

// componentInputs returns the Secrets and ConfigMaps that a release and its components name in their namespace, and
// that exist. It omits those that Helm makes for the release or Flux applies for a component: they come back with it.
func componentInputs(ctx context.Context, c client.Reader, release client.ObjectKey) ([]*unstructured.Unstructured,
	error) {
	w := componentWalk{client: c, release: release, seen: map[health.Ref]bool{}, applied: map[health.Ref]bool{}}
	w.queue = append(w.queue, health.Ref{Group: "helm" + fluxGroups, Kind: "HelmRelease",
		Namespace: release.Namespace, Name: release.Name})
	for _, kind := range []schema.GroupKind{{Group: "kustomize" + fluxGroups, Kind: "Kustomization"},
		{Group: sourceGroup, Kind: "GitRepository"}, {Group: sourceGroup, Kind: "OCIRepository"},
		{Group: sourceGroup, Kind: "HelmRepository"}} {
		if err := w.queueMade(ctx, kind); err != nil {
			return nil, err
		}
	}
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.visit(ctx, next); err != nil {
			return nil, err
		}
	}
	return w.inputs(ctx)
}

// componentWalk follows the objects of Flux from a release to what they use, within the release's namespace.
type componentWalk struct {
	client  client.Reader
	release client.ObjectKey
	queue   []health.Ref
	seen    map[health.Ref]bool
	applied map[health.Ref]bool // by a component
	named   []health.Ref        // Secrets and ConfigMaps
}

// visit collects what an object of Flux names and applies, and queues its sources and the objects of Flux that it
// applies.
func (w *componentWalk) visit(ctx context.Context, ref health.Ref) error {
	if w.seen[ref] || ref.Namespace != w.release.Namespace || !strings.HasSuffix(ref.Group, fluxGroups) {
		return nil
	}
	w.seen[ref] = true
	u, err := w.get(ctx, ref)
	if u == nil || err != nil {
		return err
	}
	for _, key := range capi.CoreRefs(u.GetNamespace(), references(u)) {
		w.named = append(w.named, health.Ref{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name})
	}
	for _, e := range health.Edges(u) {
		if e.To.Group == sourceGroup {
			w.queue = append(w.queue, e.To)
		}
	}
	for _, each := range health.Inventory(u) {
		w.applied[each] = true
		w.queue = append(w.queue, each)
	}
	return nil
}

// queueMade queues the objects of a kind that Helm made for the release.
func (w *componentWalk) queueMade(ctx context.Context, kind schema.GroupKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.WithVersion(fluxVersions()[kind.Group]))
	list.SetKind(kind.Kind + "List")
	err := w.client.List(ctx, list, client.InNamespace(w.release.Namespace))
	if err != nil && !kube.NotServed(err) {
		return fmt.Errorf("list the objects %s of namespace %s: %w", kind, w.release.Namespace, err)
	}
	for i := range list.Items {
		if rollout.Made(w.release, &list.Items[i]) {
			w.queue = append(w.queue, health.RefOf(&list.Items[i]))
		}
	}
	return nil
}

// inputs reads the Secrets and ConfigMaps that were named.
func (w *componentWalk) inputs(ctx context.Context) (found []*unstructured.Unstructured, err error) {
	read := map[health.Ref]bool{}
	for _, ref := range w.named {
		if read[ref] || w.applied[ref] || ref.Namespace != w.release.Namespace {
			continue
		}
		read[ref] = true
		u, err := w.get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if u != nil && !rollout.Made(w.release, u) {
			found = append(found, u)
		}
	}
	return found, nil
}

// get returns an object; nil if it does not exist.
func (w *componentWalk) get(ctx context.Context, ref health.Ref) (*unstructured.Unstructured, error) {
	version, ofFlux := fluxVersions()[ref.Group]
	switch {
	case ref.Group == "":
		version = "v1"
	case !ofFlux:
		return nil, nil
	}
	if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 { // no object has such a name
		return nil, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: ref.Group, Version: version, Kind: ref.Kind})
	err := w.client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, u)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s, which workload cluster %s uses: %w", ref, w.release, err)
	}
	return u, nil
}

// references returns the spec of an object of Flux without the fields that hold free text or name what is applied.
func references(u *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec") // a copy
	for _, field := range []string{"values", "patches", "postRenderers", "images", "healthChecks", "healthCheckExprs",
		"commonMetadata"} {
		delete(spec, field)
	}
	unstructured.RemoveNestedField(spec, "postBuild", "substitute")
	return spec
}
