package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// removeComponents suspends the release, which would undo the rest, and then removes one component after the other,
// each before those that it depends on. The Kustomization of a component goes last: it records what is left to do.
func (r *Removal) removeComponents(ctx context.Context, found inventory, report pipeline.Reporter) error {
	if err := r.begin(ctx, found); err != nil {
		return err
	}
	release := metadataOf(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	release.Namespace, release.Name = ownRelease().Namespace, ownRelease().Name
	all := []client.Object{release}
	for i := range found.kustomizations {
		all = append(all, &found.kustomizations[i])
	}
	// with this mark a later install resumes them
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}},"spec":{"suspend":true}}`,
		owned.SuspendedAnnotation, owned.SuspendedFor(r.Namespace, r.Cluster))
	for _, o := range all {
		err := r.cluster.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
		if client.IgnoreNotFound(err) != nil && !apimeta.IsNoMatchError(err) {
			return fmt.Errorf("suspend %s: %w", client.ObjectKeyFromObject(o), err)
		}
	}
	for _, key := range found.withoutKustomization() { // an earlier run removed it: another process recreated objects
		if err := r.removeApplied(ctx, found, key, report); err != nil {
			return err
		}
	}
	for _, k := range dependentsFirst(found.kustomizations) {
		if err := r.removeComponent(ctx, found, k, report); err != nil {
			return err
		}
	}
	return nil
}

// removeComponent deletes what a Kustomization has applied, and then the Kustomization. Controllers run until the
// objects that they finish are gone, and namespaces are last.
func (r *Removal) removeComponent(ctx context.Context, found inventory, k kustomizev1.Kustomization,
	report pipeline.Reporter) error {
	key := client.ObjectKeyFromObject(&k)
	if stays(k) {
		report.Progress("leaving the objects of component %s", k.Name)
	} else if err := r.removeApplied(ctx, found, key, report); err != nil {
		return err
	}
	err := r.remove(ctx, "Kustomization "+key.String(), report, func(ctx context.Context) ([]object, error) {
		o := metadataOf(kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind))
		o.Namespace, o.Name = key.Namespace, key.Name
		exists, err := r.cluster.Exists(ctx, o)
		if err != nil || !exists {
			return nil, err
		}
		return []object{o}, nil
	})
	if err != nil || stays(k) {
		return err
	}
	// an apply that was at work when the Kustomization was suspended has ended now, and may have restored something
	if err := r.removeApplied(ctx, found, key, report); err != nil {
		return err
	}
	report.Progress("removed component %s", k.Name)
	return nil
}

// removeApplied deletes what a Kustomization has applied.
func (r *Removal) removeApplied(ctx context.Context, found inventory, key client.ObjectKey,
	report pipeline.Reporter) error {
	selector := client.MatchingLabels{appliedByName: key.Name, appliedByNamespace: key.Namespace}
	objects, err := r.list(ctx, found.served, selector)
	if err != nil {
		return err
	}
	return r.removeInOrder(ctx, found, objects, "component "+key.Name, selector, report)
}

// removeInOrder deletes objects that a selector finds, in stages, each of which it waits for.
func (r *Removal) removeInOrder(ctx context.Context, found inventory, objects []object, what string,
	selector client.ListOption, report pipeline.Reporter) error {
	stages := []struct {
		of   string
		is   func(object) bool
		last bool // deleting them cannot be undone
	}{
		{"objects", isCustom, false},
		{"definitions", func(o object) bool { return o.Kind == crdKind().Kind }, true},
		{"controllers", func(o object) bool {
			return !isCustom(o) && o.Kind != crdKind().Kind && o.Kind != "Namespace"
		}, false},
		{"namespaces", func(o object) bool { return o.Kind == "Namespace" }, true},
	}
	for _, stage := range stages {
		goes := func(o object) bool { return stage.is(o) && !found.keeps(o) }
		kinds := r.kindsOf(found, slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return !goes(o) }))
		if len(kinds) == 0 {
			continue
		}
		find := func(ctx context.Context) ([]object, error) {
			list, err := r.list(ctx, kinds, selector)
			return slices.DeleteFunc(list, func(o object) bool { return !goes(o) }), err
		}
		// the end of a HelmRelease ends what its chart made
		if stage.last || slices.ContainsFunc(objects, func(o object) bool { return stage.is(o) && isHelmRelease(o) }) {
			now, err := find(ctx)
			if err != nil {
				return err
			}
			if !stage.last {
				now = found.charted
			}
			if err := r.checkDependents(ctx, found, now); err != nil {
				return err
			}
		}
		if err := r.remove(ctx, "the "+stage.of+" of "+what, report, find); err != nil {
			return err
		}
	}
	return nil
}

// checkDependents refuses to delete definitions and namespaces that others have come to use since the last observation.
func (r *Removal) checkDependents(ctx context.Context, found inventory, lost []object) error {
	err := r.connect(ctx)
	if err != nil {
		return err
	}
	if found.workload, err = r.workloadClusters(ctx); err != nil {
		return err
	}
	all, err := r.collected(ctx, found, lost)
	if err != nil {
		return err
	}
	found.readNamespaces(all) // a namespace in which others have put something since stays
	found.dependents = unique(found.deletedDependents(all, lost))
	return judgeRemoval(found, r.Subject)
}

// kindsOf returns the kinds of objects.
func (r *Removal) kindsOf(found inventory, objects []object) []kube.Served {
	return slices.DeleteFunc(slices.Clone(found.served), func(s kube.Served) bool {
		return !slices.ContainsFunc(objects, func(o object) bool {
			return o.GroupVersionKind() == s.Resource.GroupVersion().WithKind(s.Kind)
		})
	})
}

// isCustom reports whether an object is of a kind that Kubernetes itself does not have.
func isCustom(o object) bool { return isCustomGroup(o.GroupVersionKind().Group) }

func isCustomGroup(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// dependentsFirst orders Kustomizations: each comes before those that it depends on.
func dependentsFirst(all []kustomizev1.Kustomization) []kustomizev1.Kustomization {
	var ordered []kustomizev1.Kustomization
	left := slices.Clone(all)
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(k kustomizev1.Kustomization) bool { return !isNeeded(k, left) })
		next = max(next, 0) // a cycle, which Flux does not apply
		ordered = append(ordered, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return ordered
}

// withoutKustomization returns the names of what an earlier run has removed.
func (i inventory) withoutKustomization() []client.ObjectKey {
	var gone []client.ObjectKey
	for key, goes := range i.removes {
		exists := slices.ContainsFunc(i.kustomizations, func(k kustomizev1.Kustomization) bool {
			return client.ObjectKeyFromObject(&k) == key
		})
		if goes && !exists {
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
	return gone
}

// isNeeded reports whether one of all depends on a Kustomization.
func isNeeded(k kustomizev1.Kustomization, all []kustomizev1.Kustomization) bool {
	for _, other := range all {
		for _, on := range other.Spec.DependsOn {
			if on.Name == k.Name &&
				(on.Namespace == k.Namespace || on.Namespace == "" && other.Namespace == k.Namespace) {
				return true
			}
		}
	}
	return false
}

// remove deletes what find finds, until it finds nothing. It reports what it waits for when that changes, and after
// each Heartbeat.
func (r *Removal) remove(ctx context.Context, what string, report pipeline.Reporter,
	find func(context.Context) ([]object, error)) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var reported time.Time
	last := ""
	for {
		left, err := find(ctx)
		if err == nil && len(left) == 0 {
			return nil
		}
		awaited := abbreviated(left)
		for _, o := range left {
			if o.DeletionTimestamp != nil {
				continue
			}
			deleteErr := client.IgnoreNotFound(r.cluster.Delete(ctx, o, client.Preconditions{UID: &o.UID},
				client.PropagationPolicy("Background")))
			if deleteErr != nil {
				err = fmt.Errorf("delete %s: %w", called(o), deleteErr)
			}
		}
		if err != nil {
			awaited = err.Error()
		}
		if awaited != last || r.world.Now().Sub(reported) >= r.Heartbeat {
			report.Waiting(fmt.Sprintf("deletion of %s: %s", what, awaited), nil)
			last, reported = awaited, r.world.Now()
		}
		select {
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("%s: still being deleted: %s: %w", what, awaited, context.Cause(ctx)),
				fault.ComponentStuck, "Find the controller that keeps the finalizers, fix it, and run the same "+
					"command again.")
		case <-tick.C:
		}
	}
}
