//go:build integration

package cleanup_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// soon makes leases expire within the time of a test.
var soon = lease.Timing{Duration: 3 * time.Second, Deadline: 2 * time.Second, Retry: 200 * time.Millisecond}

// world is a cluster of the test on the two API servers, and a cleanup of it.
type world struct {
	observer cleanup.Observer
	cleaner  cleanup.Cleaner
	engine   *engineOf
	ctx      context.Context // of the cleanup
}

// newWorld returns a world with these kubeconfigs of its API servers. An empty one means that the cluster does not
// exist.
func newWorld(t *testing.T, bootstrap, management []byte) *world {
	t.Helper()
	goal := cleanup.Target{Namespace: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())),
		Cluster: "a"}
	state := t.TempDir()
	w := &world{engine: &engineOf{finished: true}}
	if len(bootstrap) > 0 {
		w.engine.kubeconfig = string(bootstrap)
		config := configOf(t, bootstrap)
		address, err := url.Parse(config.Host)
		if err != nil {
			t.Fatal(err)
		}
		w.engine.containers = map[string]docker.Container{bootstrapNode: {Running: true, Status: "running",
			Mounts: []docker.Mount{{Target: "/etc/cluster-init.io/cluster/a"}},
			Labels: map[string]string{"io.x-k8s.kind.cluster": "a-bootstrap"},
			Ports:  map[string][]string{"6443/tcp": {"0.0.0.0:" + address.Port()}}}}
	}
	if len(management) > 0 {
		if err := os.WriteFile(filepath.Join(state, "kubeconfig"), management, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ctx, leases := lease.NewSet(ctx)
	t.Cleanup(leases.ReleaseAll)
	w.ctx = ctx
	w.observer = cleanup.Observer{Engine: w.engine, Target: goal, StateFolder: state, Leases: leases, Timing: soon}
	w.cleaner = cleanup.Cleaner{Engine: w.engine, Target: goal, Leases: leases}
	return w
}

func configOf(t *testing.T, kubeconfig []byte) *rest.Config {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// plan makes the plan as cleanup does.
func (w *world) plan(t *testing.T) cleanup.Plan {
	t.Helper()
	plan, err := w.cleaner.Plan(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// request is the lease request of another process's `up`.
func (w *world) request(t *testing.T, server *apiserver.Server, cluster string) lease.Request {
	t.Helper()
	return lease.Request{Config: configOf(t, server.Kubeconfig()), Where: "the " + cluster + " cluster",
		Name:   lease.Name(w.observer.Target.Namespace, "a"),
		Holder: "alice@one (1)", Timing: soon, Lost: func(error) {}}
}

// up lets another process work on a cluster, and returns the context of that run.
func (w *world) up(t *testing.T, server *apiserver.Server, cluster string) context.Context {
	t.Helper()
	ctx, leases := lease.NewSet(t.Context())
	t.Cleanup(leases.ReleaseAll)
	if _, err := leases.Take(ctx, w.request(t, server, cluster)); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// holder returns the holder of a cluster's lease.
func (w *world) holder(t *testing.T, server *apiserver.Server) string {
	t.Helper()
	r := w.request(t, server, "")
	found, err := coordinationv1.NewForConfigOrDie(r.Config).Leases("kube-system").Get(t.Context(), r.Name,
		metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return *found.Spec.HolderIdentity
}

// The `up` of another machine begins after the first observation, which finds no run, and before the deletion.
func TestARunThatBeginsMeanwhileIsSeen(t *testing.T) {
	for cluster, server := range map[string]*apiserver.Server{"bootstrap": bootstrapServer,
		"management": managementServer} {
		t.Run(cluster, func(t *testing.T) {
			w := newWorld(t, bootstrapServer.Kubeconfig(), managementServer.Kubeconfig())
			looking := w.observer
			looking.Leases = nil
			if p, err := looking.Ask(w.ctx, w.plan(t)); err != nil || p.Refused {
				t.Fatalf("at first: %+v, %v", p, err)
			}
			alice := w.up(t, server, cluster)
			_, err := w.cleaner.Claim(w.ctx, w.observer, w.plan(t))
			if fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), "alice@one (1) holds the lock on the "+
				cluster+" cluster, since") || !strings.Contains(fault.HintOf(err), "--force a") {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
			if alice.Err() != nil {
				t.Errorf("the run that was refused for ended: %v", context.Cause(alice))
			}
		})
	}
}

// Two clusters count as the management cluster: the one of the state folder, and the one of --kubeconfig, which holds
// the Cluster. A run that works on either of them is seen.
func TestTwoClustersCountAsTheManagementCluster(t *testing.T) {
	definitions, err := apiserver.ClusterAPIDefinitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := apiserver.Start(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Stop() })
	for name, server := range map[string]*apiserver.Server{"of the state folder": managementServer,
		"of --kubeconfig": other} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, managementServer.Kubeconfig())
			w.observer.Kubeconfig = filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(w.observer.Kubeconfig, other.Kubeconfig(), 0o600); err != nil {
				t.Fatal(err)
			}
			createCluster(t, other, w.observer.Target)
			w.up(t, server, "management")
			if err := w.observer.Alone(w.ctx, w.plan(t)); fault.CodeOf(err) != fault.Busy ||
				!strings.Contains(err.Error(), "alice@one (1) holds the lock on the management cluster") {
				t.Error(err)
			}
		})
	}
}

// createCluster creates the target's Cluster, with its namespace.
func createCluster(t *testing.T, server *apiserver.Server, target cleanup.Target) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(configOf(t, server.Kubeconfig()))
	for _, o := range []struct {
		resource schema.GroupVersionResource
		object   map[string]any
	}{
		{corev1.SchemeGroupVersion.WithResource("namespaces"), map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": target.Namespace}}},
		{clusterv1.GroupVersion.WithResource("clusters"), map[string]any{
			"apiVersion": clusterv1.GroupVersion.String(), "kind": "Cluster",
			"metadata": map[string]any{"name": target.Cluster, "namespace": target.Namespace},
			"spec":     map[string]any{"controlPlaneEndpoint": map[string]any{"host": "192.0.2.1", "port": int64(6443)}}}},
	} {
		object := &unstructured.Unstructured{Object: o.object}
		if _, err := client.Resource(o.resource).Namespace(object.GetNamespace()).Create(t.Context(), object,
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// While cleanup deletes, it turns away the `up` of another machine. A lease is deleted with its cluster.
func TestCleanupHoldsTheLeases(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), managementServer.Kubeconfig())
	plan, err := w.cleaner.Claim(w.ctx, w.observer, w.plan(t))
	if err != nil {
		t.Fatal(err)
	}
	for cluster, server := range map[string]*apiserver.Server{"bootstrap": bootstrapServer,
		"management": managementServer} {
		if _, err := lease.Take(w.ctx, w.request(t, server, cluster)); fault.CodeOf(err) != fault.Busy {
			t.Errorf("somebody else takes the lease of the %s cluster: %v", cluster, err)
		}
	}
	if _, err := w.cleaner.Run(w.ctx, plan); err != nil ||
		!slices.Contains(w.engine.deleted, "container "+bootstrapNode) {
		t.Errorf("deleted %q, %v", w.engine.deleted, err)
	}
	w.cleaner.Leases.ReleaseAll()
	for cluster, server := range map[string]*apiserver.Server{"bootstrap": bootstrapServer,
		"management": managementServer} {
		if w.holder(t, server) == "" {
			t.Errorf("the lease of the %s cluster was given back, while that is being deleted", cluster)
		}
	}
}

// `down` deletes the bootstrap cluster in its last run of the Cleaner. Until then no other run takes that cluster's
// lease.
func TestTheLeaseOfABootstrapClusterThatStaysIsRenewed(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), nil)
	plan, err := w.cleaner.Claim(w.ctx, w.observer, w.plan(t))
	if err != nil {
		t.Fatal(err)
	}
	plan.Delete = slices.DeleteFunc(plan.Delete, func(i cleanup.Item) bool { return i.Kind == cleanup.BootstrapNode })
	if _, err := w.cleaner.Run(w.ctx, plan); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Take(w.ctx, w.request(t, bootstrapServer, "bootstrap")); fault.CodeOf(err) != fault.Busy {
		t.Errorf("another run takes the lease: %v", err)
	}
}

// A permission is checked again once no other process can change the cluster. A machine was created since, and its
// owner is not known.
func TestWhatIsClaimedIsJudgedAgain(t *testing.T) {
	for name, forced := range map[string]bool{"permitted": false, "forced": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, bootstrapServer.Kubeconfig(), nil)
			plan := w.plan(t)
			if p, err := w.observer.Ask(w.ctx, plan); err != nil || p.Refused {
				t.Fatalf("at first: %+v, %v", p, err)
			}
			w.engine.containers["a-x"] = docker.Container{Running: true,
				Mounts: []docker.Mount{{Target: "/etc/cluster-init.io/cluster/a"}},
				Labels: map[string]string{"io.x-k8s.kind.cluster": "a"}}
			w.cleaner.Forced = forced
			plan, err := w.cleaner.Claim(w.ctx, w.observer, plan)
			if !slices.ContainsFunc(plan.Delete, func(i cleanup.Item) bool { return i.Name == "a-x" }) {
				t.Errorf("the machine is not seen: %+v", plan.Delete)
			}
			if forced && err != nil || !forced && (fault.CodeOf(err) != fault.CleanupRefused ||
				!strings.Contains(err.Error(), "machines exist (a-x)")) {
				t.Error(err)
			}
		})
	}
}

// Another process takes over the lease during the second observation: nothing is deleted, for that reason.
func TestALeaseThatIsLostDuringTheSecondLook(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), nil)
	plan := w.plan(t)
	if err := w.observer.Alone(w.ctx, plan); err != nil {
		t.Fatal(err)
	}
	r := w.request(t, bootstrapServer, "bootstrap")
	r.Forced = func(error) {}
	taken, err := lease.Take(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	if _, err := w.cleaner.Claim(w.ctx, w.observer, plan); fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "alice@one (1) has taken over") {
		t.Error(err)
	}
}

// A cleanup that refuses releases its leases, so that other runs do not wait.
func TestLeasesAreGivenBackWhereNothingWasDeleted(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), nil)
	if err := w.observer.Alone(w.ctx, w.plan(t)); err != nil {
		t.Fatal(err)
	}
	if w.holder(t, bootstrapServer) == "" {
		t.Error("it was never taken")
	}
	w.observer.Leases.ReleaseAll()
	if holder := w.holder(t, bootstrapServer); holder != "" {
		t.Errorf("it still has %s", holder)
	}
}

// With --force NAME, cleanup names the other run, and ends it.
func TestForceTakesTheWorkOver(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), managementServer.Kubeconfig())
	bootstrap, management := w.up(t, bootstrapServer, "bootstrap"), w.up(t, managementServer, "management")
	var said []string
	w.observer.Forced = func(err error) { said = append(said, err.Error()) }
	if err := w.observer.Alone(w.ctx, w.plan(t)); err != nil {
		t.Fatal(err)
	}
	slices.Sort(said)
	if len(said) != 2 || !strings.HasPrefix(said[0], "alice@one (1) holds the lock on the bootstrap cluster, since") ||
		!strings.HasPrefix(said[1], "alice@one (1) holds the lock on the management cluster, since") {
		t.Errorf("it said %q", said)
	}
	for _, run := range []context.Context{bootstrap, management} {
		if err := context.Cause(run); fault.CodeOf(err) != fault.Busy ||
			!strings.Contains(err.Error(), "has taken over the lock on the ") {
			t.Errorf("the other run ended because of %v", err)
		}
	}
}

// A lease that is lost right before the deletion prevents it, and is the reason of the error.
func TestNothingIsDeletedWithoutTheLease(t *testing.T) {
	w := newWorld(t, bootstrapServer.Kubeconfig(), nil)
	plan := w.plan(t)
	if err := w.observer.Alone(w.ctx, plan); err != nil {
		t.Fatal(err)
	}
	r := w.request(t, bootstrapServer, "bootstrap")
	r.Forced = func(error) {}
	taken, err := lease.Take(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	_, err = w.cleaner.Run(w.ctx, plan)
	if fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "alice@one (1) has taken over the lock on the bootstrap cluster") ||
		len(w.engine.deleted) > 0 {
		t.Errorf("deleted %q, %v", w.engine.deleted, err)
	}
}

// An account with read-only access cannot hold a lease. Cleanup reports that, and continues only with --force.
func TestALeaseThatMayNotBeTaken(t *testing.T) {
	reader := func(server *apiserver.Server) []byte {
		content, err := server.KubeconfigOf("reader")
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	for name, tc := range map[string]struct{ bootstrap, management []byte }{
		"bootstrap":  {reader(bootstrapServer), managementServer.Kubeconfig()},
		"management": {bootstrapServer.Kubeconfig(), reader(managementServer)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.bootstrap, tc.management)
			err := w.observer.Alone(w.ctx, w.plan(t))
			if fault.CodeOf(err) != fault.CleanupRefused ||
				!strings.Contains(err.Error(), "in the "+name+" cluster: ") ||
				!strings.Contains(err.Error(), "forbidden") ||
				!strings.Contains(fault.HintOf(err), "Allow get, create and update of leases, which keep two runs apart, in the "+
					"namespace kube-system. If it is to go as it is, add --force a.") {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
			var said []string
			w.observer.Forced = func(err error) { said = append(said, err.Error()) }
			if err := w.observer.Alone(w.ctx, w.plan(t)); err != nil || len(said) != 1 ||
				!strings.Contains(said[0], "forbidden") {
				t.Errorf("forced: %v, said %q", err, said)
			}
		})
	}
}
