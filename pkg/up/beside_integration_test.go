//go:build integration

package up

import (
	"context"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Until the pivot, the bootstrap cluster installs the network and the cloud's controllers in the management cluster. If
// that fails, each wait for the management cluster reports it first.
func failsBeside(ctx context.Context, t *testing.T, env *environment.Environment) {
	management, err := kube.Connect(clusters.ManagementName, shared.Kubeconfig(), shared.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	broken := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "cni",
		Labels: map[string]string{owned.ComponentLabel: "cni"}}, Spec: kustomizev1.KustomizationSpec{
		Interval:  metav1.Duration{Duration: time.Minute},
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "any"}}}
	shared.Create(ctx, t, broken)
	defer shared.Remove(ctx, t, broken)
	before := broken.DeepCopy()
	apimeta.SetStatusCondition(&broken.Status.Conditions, metav1.Condition{Type: fluxmeta.ReadyCondition,
		Status: metav1.ConditionFalse, Reason: "ReconciliationFailed", Message: "dry-run failed"})
	if err := shared.Client.Status().Patch(ctx, broken, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}

	follow := rollout.Options{Heartbeat: 50 * time.Millisecond, Now: time.Now}
	at := func(seen decision) world { return both{seenWorld{seen: seen}, management} }
	inManagement := func(seen decision) func(context.Context, pipeline.Reporter) error {
		return fluxInstall{cluster: clusters.ManagementName, world: at(seen),
			flux: bootstrap.Flux{Environment: env, Phase: environment.Management, Fetch: manifests{},
				Follow: follow}}.run
	}
	release := managementRelease{world: at(beforePivot),
		releases: releases{environment: env, scope: clusters.Scope{Namespace: "observed", Cluster: env.ClusterName()},
			source: source.Source{Kind: source.Embedded}, published: &content.Published{}, heartbeat: follow.Heartbeat,
			now: time.Now}}
	for name, tc := range map[string]struct {
		run  func(context.Context, pipeline.Reporter) error
		want string // the cluster that the first heartbeat names first
	}{
		"Flux in the management cluster":                  {inManagement(beforePivot), clusters.BootstrapName},
		"Flux in the management cluster, after the pivot": {inManagement(pivoted), clusters.ManagementName},
		"the release in the management cluster":           {release.run, clusters.BootstrapName},
	} {
		first := make(chan event.Object, 1)
		ctx, cancel := context.WithCancel(ctx)
		if err := tc.run(ctx, heartbeat{first: first, enough: cancel}); err == nil {
			t.Errorf("%s: no error, though nothing gets ready here", name)
		}
		cancel()
		select {
		case o := <-first:
			if o.Cluster != tc.want || o.Cluster == clusters.BootstrapName &&
				(o.Name != "cni" || o.Message != "dry-run failed") {
				t.Errorf("%s: first is %+v, want one of the %s cluster", name, o, tc.want)
			}
		default:
			t.Errorf("%s: no heartbeat", name)
		}
	}
}

// both is a world with two clusters on one API server.
type both struct {
	seenWorld
	management *kube.Cluster
}

func (b both) Connected(name string) (*kube.Cluster, error) {
	if name == clusters.ManagementName {
		return b.management, nil
	}
	return shared.Client, nil
}

// heartbeat records the first object of the first heartbeat, and then ends the wait.
type heartbeat struct {
	silence
	first  chan<- event.Object
	enough context.CancelFunc
}

func (h heartbeat) Waiting(_ string, objects []event.Object) {
	if len(objects) > 0 {
		select {
		case h.first <- objects[0]:
		default:
		}
		h.enough()
	}
}

// manifests are the manifests on the machine of the tests.
type manifests struct{}

func (manifests) Fetch(_ context.Context, url string) ([]byte, error) {
	return apiserver.ReadManifest(url)
}
