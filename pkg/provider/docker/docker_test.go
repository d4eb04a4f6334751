package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/docker"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

// fake is an engine with these containers; listed are those that were there a moment ago.
type fake struct {
	addresses.Engine
	containers map[string]engine.Container
	listed     []string
	err        error // of the list
	inspect    error
}

func (f fake) Containers(_ context.Context, filter engine.Filter) ([]string, error) {
	if len(filter.Labels) != 1 || filter.Labels[0] != kind.ClusterLabel+"=demo" {
		return nil, fmt.Errorf("asked for %v", filter)
	}
	return f.listed, f.err
}

func (f fake) Inspect(_ context.Context, name string) (engine.Container, error) {
	c, there := f.containers[name]
	if !there {
		return c, engine.ErrNotFound
	}
	return c, f.inspect
}

func (fake) Start(context.Context, string) error { return nil }

func (f fake) Exec(_ context.Context, name string, args []string, o engine.ExecOptions) error {
	if f.err == nil {
		_, _ = io.WriteString(o.Stdout, args[0]+" in "+name)
	}
	return f.err
}

func (f fake) Logs(_ context.Context, name string, _, _ int) (string, error) {
	return "booting " + name, f.err
}

func (f fake) Output(_ context.Context, name string, args []string, _ int) (string, error) {
	return args[0] + " of " + name, f.err
}

// named is a fake that lists containers by another label.
type named struct{ fake }

func (n named) Containers(context.Context, engine.Filter) ([]string, error) { return n.listed, nil }

func TestInspect(t *testing.T) {
	of := func(cluster string, running bool, status string) engine.Container {
		return engine.Container{Running: running, Status: status, Labels: map[string]string{kind.ClusterLabel: cluster}}
	}
	all := map[string]engine.Container{"demo-a": of("demo", true, "running"), "tenant-a": of("tenant", false, "exited"),
		"x-demo-a": of("other", true, "running")}
	listed := []string{"demo-a", "tenant-a", "x-demo-a", "gone-b"}
	p := docker.Provider{Engine: named{fake{containers: all, listed: listed}}, Cluster: "demo"}
	for machine, want := range map[string][]provider.Said{
		"demo-a": {{From: "console", Text: "booting demo-a"}, {From: "journal", Text: "journalctl of demo-a"}},
		"a": {{From: "console", Text: "booting demo-a"}, {From: "journal", Text: "journalctl of demo-a"},
			{From: "console", Text: "booting tenant-a"}},
		"none": nil,
	} {
		said, err := p.Inspect(t.Context(), machine)
		if diff := cmp.Diff(want, said); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", machine, err, diff)
		}
	}
	p.Engine = named{fake{containers: all, listed: listed, err: errors.New("silent")}}
	if said, err := p.Inspect(t.Context(), "demo-a"); err == nil || len(said) > 0 {
		t.Errorf("a machine that does not answer: %v, %v", said, err)
	}
	if _, err := p.Inspect(t.Context(), "b"); err == nil {
		t.Error("a container that went is not reported")
	}
}

func TestMachines(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	ours := []engine.Mount{{Target: owned.Marker("demo")}}
	machine := engine.Container{Running: true, Status: "running", Created: at(2), Mounts: ours}
	stopped := engine.Container{Status: "exited", Created: at(1), Mounts: ours}
	balancer := engine.Container{Running: true, Status: "paused", Created: at(0),
		Labels: map[string]string{kind.RoleLabel: kind.LoadBalancerRole}}
	foreign := engine.Container{Running: true, Created: at(3)}
	down := errors.New("the engine is down")
	cases := map[string]struct {
		fake fake
		want []provider.Machine
		code fault.Code
	}{
		"none": {fake{}, nil, ""},
		"in the order in which they were made": {fake{containers: map[string]engine.Container{"a": machine,
			"b": stopped, "lb": balancer}, listed: []string{"a", "b", "lb"}},
			[]provider.Machine{{Name: "lb", Paused: true}, {Name: "b", Stopped: true}, {Name: "a"}}, ""},
		"one that is being removed": {fake{containers: map[string]engine.Container{"a": {Status: "removing",
			Mounts: ours}}, listed: []string{"a"}}, []provider.Machine{{Name: "a"}}, ""},
		"one went meanwhile": {fake{containers: map[string]engine.Container{"a": machine},
			listed: []string{"gone", "a"}}, []provider.Machine{{Name: "a"}}, ""},
		"a node of another owner": {fake{containers: map[string]engine.Container{"a": machine, "x": foreign},
			listed: []string{"a", "x"}}, nil, fault.ClusterForeign},
		"the engine does not answer": {fake{err: down}, nil, fault.Unknown},
		"or not for each of them": {fake{containers: map[string]engine.Container{"a": machine},
			listed: []string{"a"}, inspect: down}, nil, fault.Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := docker.Provider{Engine: tc.fake, Cluster: "demo"}.Machines(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || fault.CodeOf(err) != tc.code {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
