package rollout

import (
	"context"
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Suspension keeps Flux, in one cluster, from restoring what a pivot removes. An annotation names the pivot, so that
// Resume leaves alone what a user or another pivot has suspended.
type Suspension struct {
	Cluster *kube.Cluster
	// Of is the management cluster that is moved, see owned.SuspendedFor: a user's own bootstrap cluster may have had
	// others.
	Of string
}

// Suspend suspends the HelmRelease first, which would undo the rest, then the Kustomizations, which may outlive it. It
// skips what is already suspended. Without a HelmRelease it fails if nothing carries the mark in the end: no later run
// could detect that a pivot had begun.
func (s Suspension) Suspend(ctx context.Context) error {
	release := helmRelease()
	err := s.Cluster.Get(ctx, client.ObjectKeyFromObject(release), release)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return fmt.Errorf("read HelmRelease %s in the %s cluster: %w", flux.ReleaseName, s.Cluster.Name, err)
	}
	if !gone && !release.Spec.Suspend {
		if err := s.set(ctx, "HelmRelease", release, true); err != nil {
			return err
		}
	}
	list, err := flux.Kustomizations(ctx, s.Cluster)
	if err != nil {
		return err
	}
	for i := range list {
		k := &list[i]
		// a user's own Kustomization keeps running
		if k.Spec.Suspend || !Made(ownRelease(), k) || !isDefinition(k) && k.Spec.KubeConfig == nil {
			continue
		}
		if err := s.set(ctx, "Kustomization", k, true); err != nil {
			return err
		}
	}
	if !gone {
		return nil
	}
	marked, err := s.Stands(ctx)
	if err == nil && !marked {
		err = fault.New(fault.PivotRefused, fmt.Sprintf("suspend Flux in the %s cluster: HelmRelease %s is gone, and "+
			"so are its Kustomizations: no object is left to record that a move has begun", s.Cluster.Name,
			flux.ReleaseName),
			"Run cluster-init up to install the release again, then run the same command.")
	}
	return err
}

// isDefinition reports whether a Kustomization applies the definition of the cluster, of a further pool of workers, or
// health checks of their machines.
func isDefinition(k *kustomizev1.Kustomization) bool {
	return k.Name == definitionComponent || k.Labels[owned.PoolLabel] != "" ||
		owned.IsHealthChecks(k.Labels[owned.ComponentLabel])
}

// Resume undoes Suspend.
func (s Suspension) Resume(ctx context.Context) error { return s.resume(ctx, true) }

// resume undoes Suspend, except for the definition if another cluster owns it: the next release removes that
// Kustomization, and while suspended it makes and deletes nothing.
func (s Suspension) resume(ctx context.Context, definition bool) error {
	list, err := flux.Kustomizations(ctx, s.Cluster)
	if err != nil {
		return err
	}
	for i := range list {
		if s.suspended(list[i]) && (definition || !isDefinition(&list[i])) {
			if err := s.set(ctx, "Kustomization", &list[i], false); err != nil {
				return err
			}
		}
	}
	release := helmRelease()
	err = s.Cluster.Get(ctx, client.ObjectKeyFromObject(release), release)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read HelmRelease %s in the %s cluster: %w", flux.ReleaseName, s.Cluster.Name, err)
	}
	if release.Spec.Suspend && release.Annotations[owned.SuspendedAnnotation] == s.Of {
		return s.set(ctx, "HelmRelease", release, false)
	}
	return nil
}

func (s Suspension) set(ctx context.Context, kind string, o client.Object, suspend bool) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"spec":{"suspend":true}}`, owned.SuspendedAnnotation,
		s.Of)
	if !suspend {
		patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:null}},"spec":{"suspend":false}}`,
			owned.SuspendedAnnotation)
	}
	if err := s.Cluster.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fmt.Errorf("set suspend: %t on %s %s in the %s cluster: %w", suspend, kind,
			client.ObjectKeyFromObject(o), s.Cluster.Name, err)
	}
	return nil
}

// Stands reports whether this pivot has suspended the owners of what it removes, or has begun to. It returns false if
// Flux is not installed yet.
func (s Suspension) Stands(ctx context.Context) (bool, error) {
	release := helmRelease()
	err := s.Cluster.Get(ctx, client.ObjectKeyFromObject(release), release)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err): // a Kustomization may have outlived the HelmRelease
	case err != nil:
		return false, fmt.Errorf("read HelmRelease %s in the %s cluster: %w", flux.ReleaseName, s.Cluster.Name, err)
	case release.Spec.Suspend && release.Annotations[owned.SuspendedAnnotation] == s.Of:
		return true, nil
	}
	return flux.SuspendedWith(ctx, s.Cluster, owned.SuspendedAnnotation, s.Of)
}

func (s Suspension) suspended(k kustomizev1.Kustomization) bool {
	return k.Spec.Suspend && k.Annotations[owned.SuspendedAnnotation] == s.Of
}
