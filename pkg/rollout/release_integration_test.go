//go:build integration

package rollout

import (
	"context"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// A HelmRelease that is out of retries tries again only after a request that helm-controller takes for a reset, though
// nothing of it changed: each run makes one.
func TestApplyResetsTheFailuresOfTheRelease(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waitBound)
	defer cancel()
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	r := Release{Environment: env, Source: source.Source{Kind: source.Embedded}, Phase: environment.Bootstrap,
		Definition: true}
	objects, err := r.objects()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, objects...) })

	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	generation := int64(0)
	for _, run := range []string{"the first run", "the run after the failure"} {
		now = now.Add(time.Minute)
		token, err := r.Apply(ctx, shared.Client, Suspension{Cluster: shared.Client, Of: "management/other"}, now)
		if err != nil {
			t.Fatalf("%s: %v", run, err)
		}
		release := helmRelease()
		if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(release), release); err != nil {
			t.Fatal(err)
		}
		requested, reset := release.Annotations[fluxmeta.ReconcileRequestAnnotation],
			release.Annotations[helmv2.ResetRequestAnnotation]
		if token == "" || requested != token || reset != token {
			t.Errorf("%s: token %q, %s %q, %s %q", run, token, fluxmeta.ReconcileRequestAnnotation, requested,
				helmv2.ResetRequestAnnotation, reset)
		}
		if handled := r.Goal(shared.Client, token).Handled[releaseKey()]; handled != token {
			t.Errorf("%s: the wait is for request %q, want %q", run, handled, token)
		}
		if !helmv2.ShouldHandleResetRequest(release) {
			t.Errorf("%s: helm-controller does not reset the failures: %v, last handled %q, %q", run,
				release.Annotations, release.Status.LastHandledReconcileAt, release.Status.LastHandledResetAt)
		}
		if generation != 0 && release.Generation != generation {
			t.Errorf("%s: generation %d became %d, so it is no proof: that resets failures too", run, generation,
				release.Generation)
		}
		generation = release.Generation

		before := release.DeepCopy()
		before.Status.LastHandledResetAt = ""
		release.Status.LastHandledReconcileAt, release.Status.LastHandledResetAt = token, token
		if err := shared.Client.Status().Patch(ctx, release, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}
