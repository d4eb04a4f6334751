package cleanup_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/project"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// asked is the result of Ask, with files of the state folder and the file of --kubeconfig.
type asked struct {
	engine *engineOf
	state  map[string]string // files of the state folder
	given  string            // --kubeconfig
	plan   cleanup.Plan
}

func (a asked) ask(t *testing.T) cleanup.Permission {
	t.Helper()
	dir := t.TempDir()
	o := cleanup.Observer{Engine: a.engine, Target: target, StateFolder: filepath.Join(dir, "state")}
	if err := os.Mkdir(o.StateFolder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range a.state {
		write(filepath.Join(o.StateFolder, name), content)
	}
	if a.given != "" {
		o.Kubeconfig = filepath.Join(dir, "given")
		write(o.Kubeconfig, a.given)
	}
	if a.engine == nil {
		o.Engine = &engineOf{}
	} else if len(a.plan.Delete) == 0 {
		var err error
		if a.plan, err = cleanup.Discover(t.Context(), a.engine, target); err != nil {
			t.Fatal(err)
		}
	}
	p, err := o.Ask(t.Context(), a.plan)
	if err != nil {
		t.Fatal(err)
	}
	if code := fault.CodeOf(p.Err()); (code == fault.CleanupRefused || p.Busy && code == fault.Busy) != p.Refused {
		t.Errorf("%+v gives %v", p, p.Err())
	}
	return p
}

// expect fails unless the deletion is refused with these words. If they are empty, it must be permitted.
func (a asked) expect(t *testing.T, says string) {
	t.Helper()
	p := a.ask(t)
	if says == "" && p.Refused || !strings.Contains(p.Reason, says) {
		t.Errorf("refused: %t, reason %q, want %q", p.Refused, p.Reason, says)
	}
}

// inCloud is the name of a cloud.
const inCloud cleanup.Where = "openstack"

var running = cleanup.Plan{Delete: []cleanup.Item{{Where: inCloud, Kind: "server", Name: "a-cp-x", Machine: true}}}

// A machine runs, and there is no bootstrap cluster: the management cluster decides. A wrong answer is no permission.
func TestAskTheManagementCluster(t *testing.T) {
	one := func(name string) string { return clusterObject("ns", name, "") }
	itself, other := api{clusters: one("a")}, api{clusters: one("workload")}
	trusted := api{}.serve(t)
	for name, tc := range map[string]struct {
		kept, given string
		says        string
	}{
		"no kubeconfig":     {"", "", "no kubeconfig of its management cluster"},
		"half a kubeconfig": {"{apiVersion: v1", "", "read kubeconfig"},
		"nobody answers":    {silent(itself.serve(t)), "", "connection refused"},
		"a certificate of somebody else": {kubeconfig(addressIn(t, itself.serve(t)).String(), certificate(t)),
			"", "x509: certificate signed by unknown authority"},
		"it is not ready": {api{ready: 500, clusters: one("workload")}.serve(t), "",
			"it is not known what the management cluster manages"},
		"it does not know who asks": {api{ready: 401, clusters: one("workload")}.serve(t), "",
			"it is not known what the management cluster manages"},
		"it does not tell what it manages": {api{clusters: "403"}.serve(t), "", "not yours"},
		"it manages itself":                {itself.serve(t), "", "manages itself"},
		"it does so in another namespace": {api{clusters: clusterObject("elsewhere", "a", "")}.serve(t), "",
			"manages itself"},
		"it does so, paused": {api{clusters: clusterObject("ns", "a", `"paused": true`)}.serve(t),
			"", "manages itself"},
		"it has more clusters than its own": {api{clusters: one("workload") + "," + one("a")}.serve(t), "",
			"manages itself"},
		"it does not have its own Cluster": {trusted, "", ""},
		"it has others, and not its own": {other.serve(t), "",
			"manages other clusters, which would be lost with it: Cluster ns/workload"},
		"it has no Cluster API":                   {api{bare: true}.serve(t), "", ""},
		"any cluster":                             {"", other.serve(t), "cannot be proven to be this one"},
		"the same cluster by another file":        {silent(trusted), trusted, ""},
		"the same cluster, silent by the file":    {trusted, silent(trusted), ""},
		"a silent cluster by another file":        {trusted, silent(itself.serve(t)), "connection refused"},
		"another one manages a cluster called so": {trusted, itself.serve(t), "manages itself"},
		"an empty file":                           {trusted, "\n", ""},
		"another run works on it": {api{held: true}.serve(t), "",
			"alice@one holds the lock on the management cluster, since"},
		"one works on it, and it manages itself": {api{held: true, clusters: one("a")}.serve(t), "", "manages itself"},
		"one works on any cluster":               {"", api{held: true}.serve(t), "cannot be proven to be this one"},
		"it does not tell whether one does": {api{unleased: true}.serve(t), "", "it is not known whether " +
			"another run is at work: read the Lease kube-system/cluster-init.ns.a in the management cluster: not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			a := asked{given: tc.given, state: map[string]string{}, plan: running}
			if tc.kept != "" {
				a.state["kubeconfig"] = tc.kept
			}
			a.expect(t, tc.says)
		})
	}
}

// The bootstrap cluster shows whether the definition is still there. Machines run, and no other cluster answers.
func TestAskTheBootstrapCluster(t *testing.T) {
	active, paused := clusterObject("ns", "a", ""), clusterObject("ns", "a", `"paused": true`)
	broken := errors.New("the engine went away")
	node := func(change func(*docker.Container)) func(*engineOf) {
		return func(e *engineOf) {
			c := e.containers[bootstrapNode]
			change(&c)
			e.containers[bootstrapNode] = c
		}
	}
	for name, tc := range map[string]struct {
		api  api
		with func(*engineOf)
		says string
	}{
		"it holds the Cluster": {api{clusters: active}, nil, ""},
		"a rollback brought it back": {api{clusters: strings.Replace(active, `"metadata": {`,
			`"metadata": {"annotations": {"cluster-init.io/pivot-verified": "x"}, `, 1)}, nil,
			"before a rollback, and which other clusters it manages is not known"},
		"it holds it, and Flux is suspended": {api{clusters: active, kustomizations: kustomization(true, "ns/a")}, nil,
			""},
		"another run works on it": {api{clusters: active, held: true}, nil,
			"alice@one holds the lock on the bootstrap cluster, since"},
		"it does not tell whether one does": {api{clusters: active, unleased: true}, nil, "it is not known whether " +
			"another run is at work: read the Lease kube-system/cluster-init.ns.a in the bootstrap cluster: not yours"},
		"it holds it, paused": {api{clusters: paused}, nil,
			"a move of the definition out of the bootstrap cluster was begun"},
		"it holds nothing": {api{}, nil, "the bootstrap cluster does not hold its definition, and"},
		"neither Cluster API nor Flux": {api{bare: true}, nil,
			"the bootstrap cluster does not hold its definition, and"},
		"a pivot took it away": {api{kustomizations: kustomization(true, "ns/a")}, nil,
			"the definition was moved out of the bootstrap cluster"},
		"a pivot took it away, and only the release is still suspended": {api{release: release(true, "ns/a")}, nil,
			"the definition was moved out of the bootstrap cluster"},
		"another pivot suspended the release": {api{release: release(true, "ns/b")}, nil,
			"does not hold its definition, and"},
		"Flux does not tell of the release": {api{clusters: active, release: "403"}, nil,
			"its content is not known"},
		"another pivot took another away": {api{kustomizations: kustomization(true, "ns/b")}, nil,
			"does not hold its definition, and"},
		"a pivot that was taken back": {api{kustomizations: kustomization(false, "ns/a")}, nil,
			"does not hold its definition, and"},
		"it holds another one besides": {api{clusters: active + "," + clusterObject("ns", "b", "")}, nil,
			"other definitions, which would go with it: Cluster ns/b"},
		"in another namespace": {api{clusters: clusterObject("elsewhere", "a", "")}, nil,
			"Cluster elsewhere/a"},
		"it does not tell": {api{clusters: "403"}, nil,
			"its content is not known: it answers at https://127.0.0.1"},
		"Flux does not tell": {api{clusters: active, kustomizations: "403"}, nil,
			"its content is not known"},
		"it is not ready": {api{ready: 500, clusters: active}, nil, "its content is not known"},
		"it is stopped": {api{clusters: active},
			node(func(c *docker.Container) { c.Running, c.Status = false, "exited" }), "is stopped"},
		"it is paused": {api{clusters: active},
			node(func(c *docker.Container) { c.Status = "paused" }), "is paused"},
		"it never ran": {api{clusters: active},
			node(func(c *docker.Container) { c.Running, c.Status = false, "created" }),
			"there is no bootstrap cluster"},
		"it was never finished": {api{clusters: active}, func(e *engineOf) { e.finished = false },
			"there is no bootstrap cluster"},
		"another run may be making it": {api{clusters: active}, func(e *engineOf) {
			e.finished = false
			node(func(c *docker.Container) { c.Created = time.Now() })(e)
		}, "another run, of another user or machine, may be making it"},
		"another run may be making it, by a clock that is behind": {api{clusters: active}, func(e *engineOf) {
			e.finished, e.clock = false, time.Now().Add(-time.Hour)
			node(func(c *docker.Container) { c.Created = e.clock })(e)
		}, "may be making it"},
		"its maker gave up, by a clock that is ahead": {api{clusters: active}, func(e *engineOf) {
			e.finished, e.clock = false, time.Now().Add(time.Hour)
			node(func(c *docker.Container) { c.Created = e.clock.Add(-kind.CreationBound) })(e)
		}, "there is no bootstrap cluster"},
		"it was never finished, and the engine does not tell the time": {api{clusters: active}, func(e *engineOf) {
			e.finished, e.fails = false, map[string]error{"info": broken}
		}, "read the clock of the Docker engine: the engine went away"},
		"it is being removed": {api{clusters: active},
			node(func(c *docker.Container) { c.Running, c.Status = false, "removing" }), "is being removed"},
		"another run may be starting it": {api{clusters: active},
			node(func(c *docker.Container) { c.Running, c.Status, c.Created = false, "created", time.Now() }),
			"may be making it"},
		"it publishes no port": {api{clusters: active},
			node(func(c *docker.Container) { c.Ports = nil }), "does not publish its port 6443/tcp"},
		"it is on an engine elsewhere": {api{clusters: active},
			func(e *engineOf) { e.remote = "tcp://127.0.0.2:2376" }, ""},
		"an engine that is too far": {api{clusters: active},
			func(e *engineOf) { e.remote = "tcp://192.0.2.1.invalid:2376" }, "its content is not known"},
		"its kubeconfig cannot be read": {api{clusters: active}, func(e *engineOf) { e.execFails = broken },
			"its content is not known: read the kubeconfig of the bootstrap cluster: the engine went away"},
		"the engine does not say where it is": {api{clusters: active},
			func(e *engineOf) { e.fails = map[string]error{"info": broken} }, "the engine went away"},
		"nor whether it is finished": {api{clusters: active},
			func(e *engineOf) { e.fails = map[string]error{"file": broken} }, "the engine went away"},
	} {
		t.Run(name, func(t *testing.T) {
			e := bootstrapped(t, tc.api)
			if tc.with != nil {
				tc.with(e)
			}
			plan, err := cleanup.Discover(t.Context(), e, target)
			if err != nil {
				t.Fatal(err)
			}
			plan.Delete = append(plan.Delete, running.Delete...)
			asked{engine: e, plan: plan}.expect(t, tc.says)
		})
	}
	for name, tc := range map[string]struct{ maker, says string }{
		"this state folder makes it":    {"own", "there is no bootstrap cluster"},
		"another state folder makes it": {"other", "another run, of another user or machine, may be making it"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			if err := os.WriteFile(filepath.Join(state, "id"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			id, err := lease.ID(state)
			if err != nil {
				t.Fatal(err)
			}
			e := bootstrapped(t, api{clusters: active})
			e.finished = false
			node(func(c *docker.Container) {
				maker := map[string]string{"own": id, "other": "0123456789abcdef"}[tc.maker]
				c.Created, c.Mounts = time.Now(), append(c.Mounts, docker.Mount{Target: owned.MakerMarker(maker)})
			})(e)
			plan, err := cleanup.Discover(t.Context(), e, target)
			if err != nil {
				t.Fatal(err)
			}
			plan.Delete = append(plan.Delete, running.Delete...)
			asked{engine: e, plan: plan, state: map[string]string{"id": "x"}}.expect(t, tc.says)
		})
	}
	t.Run("it went meanwhile", func(t *testing.T) {
		e := bootstrapped(t, api{clusters: active})
		plan, err := cleanup.Discover(t.Context(), e, target)
		if err != nil {
			t.Fatal(err)
		}
		delete(e.containers, bootstrapNode)
		asked{engine: e, plan: plan}.expect(t, "its content is not known")
	})
	t.Run("another one of its name came meanwhile", func(t *testing.T) {
		e := bootstrapped(t, api{clusters: active})
		plan, err := cleanup.Discover(t.Context(), e, target)
		if err != nil {
			t.Fatal(err)
		}
		node(func(c *docker.Container) { c.Mounts = nil })(e)
		asked{engine: e, plan: plan}.expect(t, "does not carry the marker")
	})
}

// The load balancer of containers publishes another port after each start: the saved kubeconfig has the old one.
func TestAskThroughTheLoadBalancer(t *testing.T) {
	config := api{clusters: clusterObject("ns", "a", "")}.serve(t)
	e := &engineOf{}
	e.containers = map[string]docker.Container{"a-lb": {Labels: map[string]string{"io.x-k8s.kind.cluster": "a",
		"io.x-k8s.kind.role": "external-load-balancer"},
		Ports: map[string][]string{"6443/tcp": {"127.0.0.1:" + addressIn(t, config).Port()}}}}
	asked{engine: e, state: map[string]string{"kubeconfig": silent(config)}}.expect(t, "manages itself")
}

// What is found of a cluster decides whether the clusters are checked.
func TestAskAboutWhatWasFound(t *testing.T) {
	in := func(where cleanup.Where, kind cleanup.Kind, name string) cleanup.Item {
		return cleanup.Item{Where: where, Kind: kind, Name: name}
	}
	unlisted := func(kind openstack.Kind, why string) cleanup.Plan {
		return planOf(t, &project.Cloud{Unknown: map[openstack.Kind]error{kind: errors.New(why)}})
	}
	gone := api{}.serve(t)
	for name, tc := range map[string]struct {
		plan  cleanup.Plan
		state map[string]string
		says  string
	}{
		"a server": {running, nil, "machines exist (a-cp-x)"},
		"a server, as it is found": {planOf(t, &project.Cloud{Resources: project.Cluster("a", false)[:1]}), nil,
			"machines exist (a-cp-x)"},
		"a server that stays": {cleanup.Plan{Stays: running.Delete}, nil, "machines exist (a-cp-x)"},
		"containers": {cleanup.Plan{Delete: []cleanup.Item{in(cleanup.InDocker, cleanup.Machine,
			"a-y"), in(cleanup.InDocker, cleanup.Machine, "a-x")}}, nil, "machines exist (a-x, a-y)"},
		"a network and a registry": {cleanup.Plan{Delete: []cleanup.Item{in(inCloud, "network", "n"),
			in(cleanup.InDocker, cleanup.Registry, "a-registry")}}, nil, ""},
		"servers are not listed": {unlisted(openstack.KindServer, "listing servers: 503"), nil,
			"it is not known which machines exist: listing servers: 503"},
		"ports are not listed": {unlisted(openstack.KindPort, "listing ports: 503"), nil,
			"it is not known which machines exist: listing ports: 503"},
		"floating IPs are not listed": {unlisted(openstack.KindFloatingIP, "503"), nil, ""},
		"a silent management cluster": {cleanup.Plan{}, map[string]string{"kubeconfig": silent(gone)},
			"there is a kubeconfig of a management cluster"},
		"a backup": {cleanup.Plan{}, map[string]string{"a-20260101T000000Z": "",
			"a-20260102T000000Z": ""}, "a-20260102T000000Z)"},
		"a record without its backup": {cleanup.Plan{}, map[string]string{"a-20260102T000000Z.unverified": ""},
			"a-20260102T000000Z.unverified)"},
		"a kubeconfig that was put aside": {cleanup.Plan{},
			map[string]string{"kubeconfig.20260102T000000Z": silent(gone), "bootstrap.kubeconfig": "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) { asked{state: tc.state, plan: tc.plan}.expect(t, tc.says) })
	}
	t.Run("a state folder that cannot be read", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := cleanup.Observer{Engine: &engineOf{}, Target: target, StateFolder: file}.Ask(t.Context(),
			cleanup.Plan{})
		if err != nil || !strings.Contains(p.Reason, "it is not known whether there is a backup") ||
			!strings.Contains(p.Reason, "read its kubeconfig") {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

// A cluster that has not answered within the bound counts as silent.
func TestAskInTime(t *testing.T) {
	over := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(over) })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig(hangs.URL, certificate(t))),
		0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	p, err := cleanup.Observer{Engine: &engineOf{}, Target: target, StateFolder: dir, Bound: 50 * time.Millisecond}.Ask(
		t.Context(), running)
	if took := time.Since(begun); err != nil || took > 4*time.Second ||
		!strings.Contains(p.Reason, "context deadline exceeded") {
		t.Errorf("%+v, %v, after %s", p, err, took)
	}
}

// An interrupt is no answer, and no permission.
func TestAskIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := (cleanup.Observer{Engine: &engineOf{}, Target: target, StateFolder: t.TempDir()}).Ask(
		ctx, cleanup.Plan{}); !errors.Is(err, context.Canceled) || p.Reason != "" {
		t.Errorf("%+v, %v", p, err)
	}
}
