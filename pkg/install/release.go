package install

import (
	"context"
	"fmt"
	"maps"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// release returns the release that this run applies.
func (r *Run) release() rollout.Release {
	return rollout.Release{Environment: r.Environment, Source: r.Source, Published: r.published,
		Phase: environment.Management, Annotations: map[string]string{owned.NamespacesAnnotation: r.others}}
}

// applyRelease applies the release, and waits until its components are ready. It requests a reconciliation also if
// nothing differs: an earlier run may have been killed before its request.
func (r *Run) applyRelease(ctx context.Context, report pipeline.Reporter) error {
	release := r.release()
	before, err := r.applied(ctx)
	if err != nil {
		return err
	}
	token, err := release.Apply(ctx, r.cluster, clusters.Suspension(r.cluster, r.Scope), r.world.Now())
	if err != nil {
		return err
	}
	err = rollout.NewFollower(r.cluster, r.follow()).Await(ctx, release.Goal(r.cluster, token), report)
	if err != nil {
		return err
	}
	after, err := r.applied(ctx)
	r.unchanged = maps.Equal(before, after)
	if err != nil {
		return err
	}
	// the record of an uninstall that this run has undone
	return annotate(ctx, r.cluster, newMark(), owned.RemovalAnnotation, "")
}

// applied returns what Flux has applied of the release: generations, and the revisions in the status of each object.
func (r *Run) applied(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind),
		kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind),
		sourcev1.GroupVersion.WithKind(sourcev1.OCIRepositoryKind),
		sourcev1.GroupVersion.WithKind(sourcev1.GitRepositoryKind)} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := r.cluster.List(ctx, list, client.InNamespace(flux.Namespace))
		if err != nil && !kube.NotServed(err) {
			return nil, fmt.Errorf("list %s of %s: %w", kind.Kind, flux.Namespace, err)
		}
		for _, o := range list.Items {
			revision, _, _ := unstructured.NestedString(o.Object, "status", "lastAppliedRevision")
			history, _, _ := unstructured.NestedSlice(o.Object, "status", "history")
			found[kind.Kind+"/"+o.GetName()] = fmt.Sprint(o.GetGeneration(), revision, len(history), latest(history))
		}
	}
	return found, nil
}

// latest returns the version of the newest release of Helm in a history.
func latest(history []any) any {
	if len(history) == 0 {
		return nil
	}
	newest, _ := history[0].(map[string]any)
	return newest["version"]
}
