package addresses_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

func (e *engine) bring(ctx context.Context, again ...string) ([]string, error) {
	var started []string
	c := addresses.Cluster{Engine: e, Name: "demo", Containers: e.list("demo-lb", "demo-cp", "demo-worker"),
		Starting: func(i addresses.Item) error { started = append(started, i.Container.Name); return nil }}
	for _, adjacent := range []string{"demo-registry", "demo-bootstrap-control-plane"} {
		if one, there := e.containers[adjacent]; there {
			c.Adjacent = append(c.Adjacent, *one)
		}
	}
	return started, c.Bring(ctx, again)
}

// Whatever runs already, and in whatever order the engine gives addresses, the control plane and the load balancer get
// theirs, and nothing is left that holds others.
func TestBring(t *testing.T) {
	others := func(addresses ...string) func(*engine) {
		return func(e *engine) {
			for i, a := range addresses {
				name := "other-" + string(rune('a'+i))
				e.add(name, "")
				e.running(name, a)
			}
		}
	}
	for name, tc := range map[string]struct {
		change  func(*engine)
		again   []string
		started []string // nil: all
		stopped []string
		code    fault.Code
		says    string // in the error and its hint
	}{
		"after a reboot":              {},
		"others have lower addresses": {change: others("172.18.0.2", "172.18.0.3")},
		"and higher ones":             {change: others("172.18.0.7", "172.18.0.3")},
		"all run": {change: func(e *engine) {
			e.running("demo-registry", "172.18.0.2")
			e.running("demo-lb", "172.18.0.4")
			e.running("demo-cp", "172.18.0.6")
			e.running("demo-worker", "172.18.0.5")
		}, started: []string{}},
		"only the worker is stopped": {change: func(e *engine) {
			e.running("demo-registry", "172.18.0.2")
			e.running("demo-lb", "172.18.0.4")
			e.running("demo-cp", "172.18.0.6")
		}, started: []string{"demo-worker"}},
		"the registry was started first, at the address of the load balancer": {change: func(e *engine) {
			e.running("demo-registry", "172.18.0.4")
		}, stopped: []string{"demo-registry"}},
		"the engine has started all, elsewhere": {change: func(e *engine) {
			e.running("demo-registry", "172.18.0.4")
			e.running("demo-lb", "172.18.0.2")
			e.running("demo-cp", "172.18.0.3")
			e.running("demo-worker", "172.18.0.6")
		}, again: []string{"demo-lb", "demo-cp"},
			stopped: []string{"demo-registry", "demo-lb", "demo-cp", "demo-worker"}},
		"a healthy machine runs with another address": {change: func(e *engine) {
			e.running("demo-lb", "172.18.0.4")
			e.running("demo-cp", "172.18.0.9")
		}, started: []string{"demo-registry", "demo-worker"}},
		"another container has a wanted address": {change: others("172.18.0.2", "172.18.0.6"),
			started: []string{}, code: fault.ClusterUnreachable, says: "docker stop other-b"},
		"another container has the address of a load balancer that runs elsewhere": {change: func(e *engine) {
			e.running("demo-lb", "172.18.0.9")
			e.running("demo-cp", "172.18.0.6")
			e.running("demo-worker", "172.18.0.5")
			others("172.18.0.4")(e)
		}, again: []string{"demo-lb"}, started: []string{}, code: fault.ClusterUnreachable,
			says: "docker stop other-a"}, // and nothing is stopped
		"a paused one of the cluster has it": {change: func(e *engine) {
			e.running("demo-worker", "172.18.0.6")
			e.containers["demo-worker"].Status = "paused"
		}, started: []string{}, code: fault.ClusterUnreachable, says: "docker stop demo-worker"},
		"the engine gives the one after the last": {change: func(e *engine) { e.nextFit = true },
			code: fault.ClusterUnreachable, stopped: []string{"demo-lb", "demo-cp"},
			says: "does not give the address 172.18.0."},
		"it never gives a wanted one": {change: func(e *engine) {
			next := netip.MustParseAddr("172.18.1.0")
			e.assigns = func(string) netip.Addr { next = next.Next(); return next }
		}, code: fault.ClusterUnreachable, started: []string{"demo-registry", "demo-worker"},
			says: "does not give the address 172.18.0."},
		"another container is always faster": {change: func(e *engine) {
			e.assigns = func(name string) netip.Addr {
				if name == "demo-cp" {
					return netip.MustParseAddr("172.18.0.77")
				}
				return netip.Addr{}
			}
		}, code: fault.ClusterUnreachable, started: []string{"demo-registry", "demo-worker", "demo-lb", "demo-cp"},
			stopped: []string{"demo-cp", "demo-cp", "demo-cp", "demo-cp", "demo-cp"}, says: "it needs 172.18.0.6"},
		"a killed run left what holds addresses": {change: func(e *engine) {
			if _, err := e.Run(t.Context(), docker.RunOptions{Name: "demo-address-1", Labels: map[string]string{
				"cluster-init.io/cluster": "demo", "cluster-init.io/holds-address": "true"}}); err != nil {
				t.Fatal(err)
			}
			e.running("demo-address-1", "172.18.0.6")
		}},
		"a stopped machine of another cluster needs the address that is free": {change: func(e *engine) {
			e.add("x-cp", "control-plane")
			e.containers["x-cp"].Labels[kind.ClusterLabel] = "x"
			e.file("x-cp", "/etc/kubernetes/pki/etcd/peer.crt", string(certificate(t, "172.18.0.2")))
		}},
		"the bootstrap cluster's node yields": {change: func(e *engine) {
			e.add("demo-bootstrap-control-plane", "control-plane")
			e.file("demo-bootstrap-control-plane", "/etc/kubernetes/pki/etcd/peer.crt", string(certificate(t, "172.18.0.3")))
			others("172.18.0.3")(e)
		}},
		"a machine never became a control plane": {change: func(e *engine) { clear(e.files["demo-cp"]) }},
	} {
		t.Run(name, func(t *testing.T) {
			e := cluster(t)
			if tc.change != nil {
				tc.change(e)
			}
			wasElsewhere := e.address("demo-cp") == "172.18.0.9"
			never := len(e.files["demo-cp"]) == 0
			started, err := e.bring(t.Context(), tc.again...)
			if fault.CodeOf(err) != tc.code && (err != nil || tc.code != "") ||
				err != nil && !strings.Contains(err.Error()+fault.HintOf(err), tc.says) {
				t.Fatalf("error %v (%s), want code %q and %q", err, fault.HintOf(err), tc.code, tc.says)
			}
			if tc.started != nil && !slices.Equal(sorted(started), sorted(tc.started)) {
				t.Errorf("started %v, want %v", started, tc.started)
			}
			var stopped []string
			for _, line := range e.log {
				if name, is := strings.CutPrefix(line, "stop "); is {
					stopped = append(stopped, name)
				}
			}
			if !slices.Equal(stopped, tc.stopped) {
				t.Errorf("stopped %v, want %v", stopped, tc.stopped)
			}
			if holds := e.holds(); len(holds) > 0 {
				t.Errorf("%v are left", holds)
			}
			if err != nil {
				return
			}
			for name, want := range map[string]string{"demo-lb": "172.18.0.4", "demo-cp": "172.18.0.6"} {
				if got := e.address(name); got != want && !wasElsewhere && !never {
					t.Errorf("%s has the address %q, want %s", name, got, want)
				}
			}
			for _, name := range []string{"demo-registry", "demo-worker"} {
				if got := e.address(name); got == "" || got == "172.18.0.4" || got == "172.18.0.6" && !never {
					t.Errorf("%s has the address %q", name, got)
				}
			}
			if _, there := e.containers["x-cp"]; there && slices.Contains([]string{e.address("demo-registry"),
				e.address("demo-worker")}, "172.18.0.2") {
				t.Error("the address of another cluster's machine is taken")
			}
		})
	}
}

// What holds addresses goes also after Ctrl-C.
func TestAnInterruptLeavesNothing(t *testing.T) {
	e := cluster(t)
	ctx, interrupt := context.WithCancel(t.Context())
	e.assigns = func(name string) netip.Addr {
		if name == "demo-address-2" {
			interrupt()
		}
		return netip.Addr{}
	}
	e.running("demo-registry", "172.18.0.9")
	e.running("demo-worker", "172.18.0.10")
	if _, err := e.bring(ctx); err == nil {
		t.Error("no error")
	}
	if holds := e.holds(); len(holds) > 0 {
		t.Errorf("%v are left", holds)
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
