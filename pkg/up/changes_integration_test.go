//go:build integration

package up

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// TestChangesAreReadFromTheCluster gives an API server the values of an earlier run, and a newer Flux.
func TestChangesAreReadFromTheCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	load := func(sets ...string) changes {
		env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
			Sets: sets})
		if err != nil {
			t.Fatal(err)
		}
		return changes{environment: env, source: source.Source{Kind: source.Embedded}}
	}
	u := load()
	if last, downgrades, err := u.lastApplied(ctx, shared.Client); err != nil || last.Values != nil ||
		len(downgrades) > 0 {
		t.Errorf("a cluster that was given nothing: %v, %v, %v", last.Values, downgrades, err)
	}
	given, err := load("cluster.worker.replicas=2", "registry_secret.r.username=me",
		"registry_secret.r.password=hunter2").environment.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.ApplyAll(ctx, given.Values, given.Secrets, given.InfraSecrets); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, given.Values, given.Secrets, given.InfraSecrets) })
	last, _, err := u.lastApplied(ctx, shared.Client)
	if err != nil {
		t.Fatal(err)
	}
	values, err := u.environment.Changes(last)
	if err := environment.RefuseRemovals(values, nil); fault.CodeOf(err) != fault.ChangeRefused ||
		!strings.Contains(err.Error(), "cluster.worker.replicas: 2 -> 0 (fewer workers)") {
		t.Errorf("fewer workers: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range values {
		if strings.Contains(c.String(), "hunter2") {
			t.Errorf("a secret is shown: %s", c)
		}
	}

	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: flux.Controllers()[0]}}
	if err := shared.Client.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
		t.Fatal(err)
	}
	shared.Patch(ctx, t, d, `{"metadata":{"labels":{"`+flux.VersionLabel+`":"v99.0.0"}}}`)
	t.Cleanup(func() {
		shared.Patch(context.WithoutCancel(ctx), t, d, `{"metadata":{"labels":{"`+flux.VersionLabel+`":"`+flux.Version+
			`"}}}`)
	})
	nothingBuilt := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapEmpty,
		Cluster: shared.Client}}
	_, err = u.check(ctx, nothingBuilt, verdict{decision: beforePivot}, silence{})
	if fault.CodeOf(err) != fault.ChangeRefused || !strings.Contains(fault.HintOf(err), "--allow-changes flux.") ||
		strings.Contains(err.Error(), "replicas") {
		t.Errorf("a newer Flux before any machine exists: %v", err)
	}
	nothingBuilt.Machines = []provider.Machine{{Name: "one"}}
	if _, err := u.check(ctx, nothingBuilt, verdict{decision: beforePivot}, silence{}); !strings.Contains(
		fault.HintOf(err),
		"--allow-changes cluster.worker.replicas,flux.") {
		t.Errorf("a newer Flux and fewer workers: %v", err)
	}

	shared.Patch(ctx, t, &corev1.ConfigMap{ObjectMeta: given.Values.ObjectMeta}, `{"data":{"values.yaml":"a: b: c"}}`)
	if _, err := u.check(ctx, nothingBuilt, verdict{decision: beforePivot}, silence{}); fault.CodeOf(
		err) != fault.ClusterFailed {
		t.Errorf("values that are no YAML: %v", err)
	}
}
