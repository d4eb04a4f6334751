package install

import (
	"context"
	"fmt"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// removeRelease deletes what Helm made for the release, its values but for the mark, and its source.
func (r *Removal) removeRelease(ctx context.Context, found inventory, report pipeline.Reporter) error {
	// an upgrade that was at work when the release was suspended may have restored components
	if err := r.removeComponents(ctx, found, report); err != nil {
		return err
	}
	err := r.removeInOrder(ctx, found, found.release, "the release", client.MatchingLabels{
		helmv2.GroupVersion.Group + "/name":      ownRelease().Name,
		helmv2.GroupVersion.Group + "/namespace": ownRelease().Namespace}, report)
	if err != nil {
		return err
	}
	return r.remove(ctx, "the HelmRelease, its values and its source", report, func(ctx context.Context) ([]object,
		error) {
		return r.inputs(ctx, found.served)
	})
}

// removeFlux deletes Flux, unless another owner uses it. Its namespace stays for now: it holds the mark.
func (r *Removal) removeFlux(ctx context.Context, found inventory, report pipeline.Reporter) error {
	if err := r.removeComponents(ctx, found, report); err != nil { // as in removeRelease
		return err
	}
	if found.fluxIsUsed() {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(found.flux), func(o object) bool { return o.Kind == "Namespace" })
	err := r.removeInOrder(ctx, found, rest, "Flux", client.MatchingLabels{partOf: "flux"}, report)
	if err != nil {
		return err
	}
	for _, name := range flux.PodSecrets() {
		secret := &corev1.Secret{}
		secret.Namespace, secret.Name = ownRelease().Namespace, name
		if err := client.IgnoreNotFound(r.cluster.Delete(ctx, secret)); err != nil {
			return fmt.Errorf("delete the Secret %s of Flux: %w", name, err)
		}
	}
	return nil
}
