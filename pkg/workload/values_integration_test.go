//go:build integration

package workload

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// A cluster is given what belongs to the place of its management cluster, and keeps its own values and its key.
func TestSettledValues(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	given := func(workload bool, sets ...string) *environment.Environment {
		env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
			Workload: workload, Variables: func(string) (string, bool) { return "", false }, Sets: sets})
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	var stored []client.Object
	defer func() { // other tests of this API server have values of these names, too
		for _, o := range stored {
			if err := shared.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		}
	}()
	store := func(env *environment.Environment) {
		objects, err := env.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []client.Object{objects.Values, objects.Secrets, objects.InfraSecrets} {
			Key{env.ClusterNamespace(), env.ClusterName()}.label(o)
		}
		made := []client.Object{objects.Values, objects.Secrets, objects.InfraSecrets}
		if err := shared.Client.ApplyAll(ctx, made...); err != nil {
			t.Fatal(err)
		}
		stored = append(stored, made...)
	}
	store(given(false, "proxies.https_proxy=http://u:p@proxy:3128", "cluster.registry_mirrors[0].host=docker.io",
		"cluster.registry_mirrors[0].url=http://theirs:5000"))
	shared.Namespaces(ctx, t, "team-e")
	c := Cluster{Management: shared.Client, Self: self, Environment: given(true, "cluster.name=shop",
		"cluster.namespace=team-e", "cluster.registry_mirrors[0].host=docker.io",
		"cluster.registry_mirrors[0].url=http://mine:5000")}
	first, err := c.settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.changes) > 0 {
		t.Errorf("a cluster that was given nothing yet has changes: %v", first.changes)
	}
	store(first.environment)
	second, err := c.settle(ctx)
	if err != nil || len(second.changes) > 0 {
		t.Fatalf("the same values: changes %v, %v", second.changes, err)
	}
	for _, env := range []*environment.Environment{first.environment, second.environment} {
		values := env.Values(environment.Workload)
		proxies, _ := values["proxies"].(map[string]any)
		cluster, _ := values["cluster"].(map[string]any)
		if proxies["https_proxy"] != "http://u:p@proxy:3128" ||
			!strings.Contains(fmt.Sprint(cluster["registry_mirrors"]), "http://mine:5000") ||
			values["secret_fingerprint_key"] == "" {
			t.Errorf("%v, %v", proxies, cluster["registry_mirrors"])
		}
	}
	if first.environment.Values(environment.Workload)["secret_fingerprint_key"] != second.environment.Values(
		environment.Workload)["secret_fingerprint_key"] {
		t.Error("each run makes another key: Pods restart")
	}
	objects, err := first.environment.Objects()
	if err != nil || strings.Contains(objects.Values.Data[environment.ValuesKey], "u:p@") {
		t.Errorf("the password is in the ConfigMap, %v", err)
	}
	refusesRemovals(ctx, t, c, store, func(sets ...string) *environment.Environment {
		return given(true, append(sets, "cluster.name=shop", "cluster.namespace=team-e")...)
	})
}

// A change that takes something away from a workload cluster must be allowed, as for the management cluster.
func refusesRemovals(ctx context.Context, t *testing.T, c Cluster, store func(*environment.Environment),
	given func(...string) *environment.Environment) {
	t.Helper()
	c.Environment = given("cluster.control_plane.replicas=3", "cluster.worker.replicas=2")
	last, err := c.settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	store(last.environment)
	c.Environment = given("cluster.control_plane.replicas=1", "cluster.worker.replicas=3")
	notes := &pipeline.Notes{}
	if _, err := c.checkChanges(ctx, notes); fault.CodeOf(err) != fault.ChangeRefused ||
		!strings.Contains(fault.HintOf(err), "--allow-changes cluster.control_plane.replicas.") {
		t.Errorf("fewer machines of the control plane: %v, hint %q", err, fault.HintOf(err))
	}
	if got := strings.Join(notes.Seen, "\n"); !strings.Contains(got, "cluster.worker.replicas: 2 -> 3") {
		t.Errorf("reported %q", got)
	}
	c.AllowChanges = []string{"cluster.control_plane.replicas"}
	if _, err := c.checkChanges(ctx, notes); err != nil {
		t.Errorf("it is allowed: %v", err)
	}
}
