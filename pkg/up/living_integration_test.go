//go:build integration

package up

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	awsprovider "github.com/cluster-init/cluster-init/pkg/provider/aws"
)

// TestLiving reads one real API server as a living management cluster.
func TestLiving(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.namespace=observed"}})
	if err != nil {
		t.Fatal(err)
	}
	shared.DefineCluster(ctx, t)
	shared.Namespaces(ctx, t, "observed", "flux-system", "elsewhere", "warned")
	t.Run("the look of each phase", func(t *testing.T) { phaseLooks(ctx, t, env) })
	t.Run("a backup of it", func(t *testing.T) { backUpLiving(ctx, t, env) })
	t.Run("what is no reason to fail is said", func(t *testing.T) { warn(ctx, t) })
	// This runs last: its objects stay.
	t.Run("what fails in the bootstrap cluster", func(t *testing.T) { failsBeside(ctx, t, env) })
}

// phaseLooks checks whether the pivot is done, as phases do, with only a management cluster.
func phaseLooks(ctx context.Context, t *testing.T, env *environment.Environment) {
	state := t.TempDir()
	w := newDecider(clusters.New(clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: state,
		KubeconfigPath: filepath.Join(state, "kubeconfig")},
		clusters.Parts{Now: time.Now, Provider: awsprovider.Provider{}}), false)
	sees := func(bootstrap, management *kube.Cluster) {
		t.Helper()
		if err := w.UseAndSave(clusters.Observation{Bootstrap: clusters.BootstrapSide{Cluster: bootstrap},
			Management: clusters.ManagementSide{Cluster: management}}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, want decision, code fault.Code) {
		t.Helper()
		if got, err := w.currentDecision(ctx); got != want || fault.CodeOf(err) != code && (err != nil || code != "") {
			t.Errorf("%s: %s, %v", when, got, err)
		}
	}
	expect("no management cluster", beforePivot, "")
	sees(nil, shared.Client)
	elsewhere := fluxserver.NewCluster("elsewhere", env.ClusterName())
	shared.Create(ctx, t, elsewhere)
	expect("the Cluster is in another namespace", refuse, fault.ClusterForeign)
	shared.Remove(ctx, t, elsewhere)
	expect("nobody holds it", refuse, fault.PivotFailed)
	cluster, secret := fluxserver.NewCluster("observed", env.ClusterName()),
		fluxserver.KubeconfigSecret("observed", env.ClusterName(), shared.Kubeconfig())
	shared.Create(ctx, t, cluster)
	shared.Create(ctx, t, secret)
	expect("the management cluster holds it", pivoted, "")
	sees(shared.Client, shared.Client)
	expect("both hold it", refuse, fault.PivotFailed)
	sees(nil, shared.Client)
	shared.Patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	expect("it is paused", refuse, fault.PivotFailed)
	shared.Remove(ctx, t, cluster, secret)
	nobody, err := kube.Connect(clusters.ManagementName, fluxserver.KubeconfigOf(t, "", shared.Client.Config.Host),
		runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	sees(nil, nobody)
	expect("it does not say", refuse, fault.ClusterUnreachable)
}
