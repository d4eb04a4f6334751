package cleanup_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// container returns a container of a kind cluster. mount is what is mounted into it.
func container(cluster, role, mount string) docker.Container {
	c := docker.Container{Labels: map[string]string{"io.x-k8s.kind.cluster": cluster, "io.x-k8s.kind.role": role}}
	if mount != "" {
		c.Mounts = []docker.Mount{{Type: "bind", Source: "/dev/null", Target: mount}}
	}
	return c
}

func registry(environment string) docker.Container {
	return docker.Container{Image: "cluster-init.io/registry:1234",
		Labels: map[string]string{"cluster-init.io/cluster": environment}}
}

// inKind puts a container into the network of kind clusters. It has no address there, as if it were stopped.
func inKind(c docker.Container) docker.Container {
	c.Networks = map[string]docker.Endpoint{"kind": {}}
	return c
}

const marker = "/etc/cluster-init.io/cluster/demo"

var made = map[string]string{"cluster-init.io/created": "true"}

func TestDiscover(t *testing.T) {
	tests := map[string]struct {
		engine fakeEngine
		want   []string // "kind name", in the order of deletion
		left   []string
	}{
		"nothing there": {},
		"all of an environment, in the order of deletion": {
			engine: fakeEngine{
				containers: map[string]docker.Container{
					"demo-registry":                inKind(registry("demo")),
					"demo-lb":                      inKind(container("demo", "external-load-balancer", "")),
					"demo-abc":                     inKind(container("demo", "control-plane", marker)),
					"demo-bootstrap-control-plane": inKind(container("demo-bootstrap", "control-plane", marker))},
				volumes:  map[string]map[string]string{"demo-registry": {"cluster-init.io/cluster": "demo"}},
				networks: []docker.Network{{Labels: made}}},
			want: []string{"bootstrap-node demo-bootstrap-control-plane", "machine demo-abc", "machine demo-lb",
				"registry demo-registry",
				"volume demo-registry", "image cluster-init.io/registry:1234", "network kind"}},
		"a kind cluster of the same name, without the marker": {
			engine: fakeEngine{containers: map[string]docker.Container{"demo-bootstrap-control-plane": container(
				"demo-bootstrap", "control-plane", "")}},
			left: []string{"bootstrap-node demo-bootstrap-control-plane"}},
		"the marker of another environment": {
			engine: fakeEngine{containers: map[string]docker.Container{"demo-x": container("demo", "worker",
				marker+"-two")}},
			left: []string{"machine demo-x"}},
		"machines of somebody else's cluster of the same name, and its load balancer": {
			engine: fakeEngine{containers: map[string]docker.Container{
				"demo-x": container("demo", "control-plane", ""), "demo-lb": container("demo", "external-load-balancer",
					"")}},
			left: []string{"machine demo-lb", "machine demo-x"}},
		"a load balancer whose machines are gone": {
			engine: fakeEngine{containers: map[string]docker.Container{"demo-lb": container(
				"demo", "external-load-balancer", "")}},
			want: []string{"machine demo-lb"}},
		"a load balancer of another name": {
			engine: fakeEngine{containers: map[string]docker.Container{
				"demo-x":   container("demo", "control-plane", marker),
				"other-lb": container("demo", "external-load-balancer", "")}},
			want: []string{"machine demo-x"}, left: []string{"machine other-lb"}},
		"another environment's things": {
			engine: fakeEngine{
				containers: map[string]docker.Container{"other-registry": registry("other"),
					"demo-two-x": container("demo-two", "control-plane", marker+"-two")},
				volumes: map[string]map[string]string{"other-registry": {"cluster-init.io/cluster": "other"},
					"demo-registry": nil}}},
		"a registry that runs another image": {
			engine: fakeEngine{containers: map[string]docker.Container{
				"demo-registry": {Image: "registry:3", Labels: map[string]string{"cluster-init.io/cluster": "demo"}}}},
			want: []string{"registry demo-registry"}},
		"a network that kind made": {
			engine: fakeEngine{networks: []docker.Network{{}}}, left: []string{"network kind"}},
		"a network made by us with others in it": {
			engine: fakeEngine{containers: map[string]docker.Container{"demo-x": inKind(
				container("demo", "worker", marker)), "other": inKind(docker.Container{})},
				networks: []docker.Network{{Labels: made}}},
			want: []string{"machine demo-x"}, left: []string{"network kind"}},
		"a network made by us with somebody else's machine of our name in it": {
			engine: fakeEngine{containers: map[string]docker.Container{"demo-x": inKind(
				container("demo", "worker", ""))},
				networks: []docker.Network{{Labels: made}}},
			left: []string{"machine demo-x", "network kind"}},
		"a network made by us that nobody is in": {
			engine: fakeEngine{networks: []docker.Network{{Labels: made}}}, want: []string{"network kind"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := cleanup.Discover(t.Context(), &tc.engine, cleanup.Target{Cluster: "demo"})
			if err != nil {
				t.Fatal(err)
			}
			if got := names(plan.Delete); !slices.Equal(got, tc.want) {
				t.Errorf("deletes %q\nwant    %q", got, tc.want)
			}
			left := names(plan.LeftAlone)
			slices.Sort(left)
			if !slices.Equal(left, tc.left) {
				t.Errorf("leaves %q\nwant   %q", left, tc.left)
			}
			for _, item := range append(plan.Delete, plan.LeftAlone...) {
				if item.Proof == "" {
					t.Errorf("%s %s: no proof and no reason", item.Kind, item.Name)
				}
			}
			if len(tc.engine.deleted) > 0 {
				t.Errorf("looking deleted %q", tc.engine.deleted)
			}
		})
	}
}

func names(items []cleanup.Item) []string {
	var list []string
	for _, item := range items {
		list = append(list, string(item.Kind)+" "+item.Name)
	}
	return list
}

// A failed query must never look like "nothing there".
func TestDiscoverFailsWhenAnyQuestionFails(t *testing.T) {
	broken := errors.New("the engine went away")
	full := func() fakeEngine {
		return fakeEngine{containers: map[string]docker.Container{
			"demo-x": container("demo", "worker", marker), "demo-registry": registry("demo")},
			networks: []docker.Network{{Labels: made}}}
	}
	for _, question := range []string{"containers io.x-k8s.kind.cluster=demo-bootstrap",
		"containers io.x-k8s.kind.cluster=demo",
		"containers cluster-init.io/cluster=demo", "containers kind", "inspect demo-x", "inspect demo-registry",
		"volumes", "network"} {
		t.Run(question, func(t *testing.T) {
			engine := full()
			engine.fails = map[string]error{question: broken}
			plan, err := cleanup.Discover(t.Context(), &engine, cleanup.Target{Cluster: "demo"})
			if !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
			if len(plan.Delete) > 0 {
				t.Errorf("half a plan: %v", names(plan.Delete))
			}
		})
	}
}

// A resource that disappears between two queries is no error.
func TestDiscoverForgivesWhatIsGone(t *testing.T) {
	engine := fakeEngine{containers: map[string]docker.Container{"demo-x": container("demo", "worker", marker),
		"demo-registry": registry("demo")},
		fails: map[string]error{"inspect demo-x": docker.ErrNotFound, "inspect demo-registry": docker.ErrNotFound}}
	plan, err := cleanup.Discover(t.Context(), &engine, cleanup.Target{Cluster: "demo"})
	if err != nil || len(plan.Delete) > 0 {
		t.Errorf("plan %v, error %v", names(plan.Delete), err)
	}
}

func TestDiscoverFindsFiles(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	target := cleanup.Target{Cluster: "demo", Files: []string{there, filepath.Join(dir, "absent")}}
	plan, err := cleanup.Discover(t.Context(), &fakeEngine{}, target)
	if err != nil || !slices.Equal(names(plan.Delete), []string{"file " + there}) {
		t.Errorf("plan %v, error %v", names(plan.Delete), err)
	}
	target.Files = []string{filepath.Join(there, "below-a-file")}
	if _, err := cleanup.Discover(t.Context(), &fakeEngine{}, target); err == nil ||
		!strings.Contains(err.Error(), there) {
		t.Errorf("a file that cannot be looked for: error %v", err)
	}
}

// Each network of one name is judged by itself, and deleted by its ID.
func TestSeveralNetworksOfOneName(t *testing.T) {
	in := func(id string) docker.Container {
		return docker.Container{Status: "exited", Networks: map[string]docker.Endpoint{"kind": {NetworkID: id}}}
	}
	own := in("empty")
	own.Image, own.Labels = "registry:3", map[string]string{"cluster-init.io/cluster": "demo"}
	engine := fakeEngine{networks: []docker.Network{{ID: "empty", Labels: made}, {ID: "stopped", Labels: made},
		{ID: "foreign"}, {ID: "unused", Labels: made}},
		containers: map[string]docker.Container{"theirs": in("stopped"), "demo-registry": own}}
	cleaner := cleanup.Cleaner{Engine: &engine, Target: cleanup.Target{Cluster: "demo"}}
	plan, err := cleaner.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.LeftAlone) != 2 || plan.LeftAlone[0].ID != "stopped" || plan.LeftAlone[1].ID != "foreign" {
		t.Errorf("left alone are %+v", plan.LeftAlone)
	}
	delete(engine.containers, "demo-registry")
	if _, err := cleaner.Run(t.Context(), plan); err != nil ||
		!slices.Equal(engine.deleted, []string{"container demo-registry", "network empty", "network unused"}) {
		t.Errorf("deleted %q, %v", engine.deleted, err)
	}
}

// A stopped container needs its network to start again. The engine would delete a network that has only stopped
// containers.
func TestNetworkOfStoppedContainersStays(t *testing.T) {
	stopped := inKind(docker.Container{Status: "exited"})
	engine := fakeEngine{containers: map[string]docker.Container{"theirs": stopped, "also-theirs": stopped},
		networks: []docker.Network{{Labels: made}}}
	plan, err := cleanup.Discover(t.Context(), &engine, cleanup.Target{Cluster: "demo"})
	if err != nil || len(plan.Delete) > 0 || len(plan.LeftAlone) != 1 || !strings.Contains(plan.LeftAlone[0].Proof,
		"also-theirs, theirs") {
		t.Errorf("deletes %v, leaves %+v, %v", names(plan.Delete), plan.LeftAlone, err)
	}
	t.Run("also one that came after the plan was made", func(t *testing.T) {
		engine := fakeEngine{networks: []docker.Network{{Labels: made}}}
		cleaner := cleanup.Cleaner{Engine: &engine, Target: cleanup.Target{Cluster: "demo"}}
		plan, err := cleaner.Plan(t.Context())
		if err != nil || !slices.Equal(names(plan.Delete), []string{"network kind"}) {
			t.Fatalf("deletes %v, %v", names(plan.Delete), err)
		}
		engine.containers = map[string]docker.Container{"theirs": stopped}
		receipt, err := cleaner.Run(t.Context(), plan)
		if len(engine.deleted) > 0 || len(receipt.CouldNot) != 1 || !strings.Contains(receipt.CouldNot[0].Reason,
			"theirs") || fault.CodeOf(err) != fault.CleanupFailed {
			t.Errorf("deleted %v; %+v, %v", engine.deleted, receipt, err)
		}
	})
	t.Run("also when nobody says who is in it", func(t *testing.T) {
		engine := fakeEngine{fails: map[string]error{"containers kind": errors.New("the engine went away")}}
		item := cleanup.Item{Where: cleanup.InDocker, Kind: cleanup.Network, Name: "kind"}
		if _, err := (cleanup.Cleaner{Engine: &engine}).Run(t.Context(),
			cleanup.Plan{Delete: []cleanup.Item{item}}); len(engine.deleted) > 0 || err == nil {
			t.Errorf("deleted %v, %v", engine.deleted, err)
		}
	})
}
