package docker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/docker"
)

// holding is an engine whose containers hold a kubeconfig, but for some.
type holding struct {
	fake
	without string
}

func (h holding) Output(_ context.Context, name string, _ []string, _ int) (string, error) {
	if name == h.without {
		return "", errors.New("no kubeconfig")
	}
	return "of " + name, nil
}

// Only what carries the label and the marker of the cluster is asked for its administrator.
func TestAdministrators(t *testing.T) {
	container := func(role string, minute int, change func(*engine.Container)) engine.Container {
		c := engine.Container{Running: true, Status: "running", Created: time.Date(2026, 1, 1, 0, minute, 0, 0,
			time.UTC), Mounts: []engine.Mount{{Target: owned.Marker("demo")}},
			Labels:   map[string]string{kind.ClusterLabel: "demo", kind.RoleLabel: role},
			Networks: map[string]engine.Endpoint{"kind": {IPv4: "172.18.0." + role[:1]}}}
		if change != nil {
			change(&c)
		}
		return c
	}
	lb := container(kind.LoadBalancerRole, 0,
		func(c *engine.Container) { c.Networks["kind"] = engine.Endpoint{IPv4: "172.18.0.3"} })
	first, second, worker := container("control-plane", 1, nil), container("control-plane", 2, nil),
		container("worker", 3, nil)
	stopped := container("control-plane", 1, func(c *engine.Container) { c.Running = false })
	paused := container("control-plane", 1, func(c *engine.Container) { c.Status = "paused" })
	foreign := container("control-plane", 1, func(c *engine.Container) { c.Mounts = nil })
	of := func(name, address string) provider.Administrator {
		return provider.Administrator{Machine: name, Kubeconfig: []byte("of " + name), Address: address}
	}
	for name, tc := range map[string]struct {
		containers map[string]engine.Container
		without    string
		want       []provider.Administrator
		unread     bool
		code       fault.Code
	}{
		"none": {},
		"two, in the order of making": {containers: map[string]engine.Container{"b": second, "a": first, "lb": lb,
			"w": worker}, want: []provider.Administrator{of("a", "172.18.0.3"), of("b", "172.18.0.3")}},
		"without a load balancer": {containers: map[string]engine.Container{"a": first},
			want: []provider.Administrator{of("a", "172.18.0.c")}},
		"one has none": {containers: map[string]engine.Container{"a": first, "b": second, "lb": lb},
			without: "a", want: []provider.Administrator{of("b", "172.18.0.3")}, unread: true, code: fault.Unknown},
		"it is stopped": {containers: map[string]engine.Container{"a": stopped}, unread: true,
			code: fault.Unknown},
		"it is paused": {containers: map[string]engine.Container{"a": paused}, unread: true,
			code: fault.Unknown},
		"a node of another owner": {containers: map[string]engine.Container{"a": foreign, "b": second},
			unread: true, code: fault.ClusterForeign},
		"a worker is not read": {containers: map[string]engine.Container{"w": worker}},
	} {
		t.Run(name, func(t *testing.T) {
			f := fake{containers: tc.containers, listed: []string{"gone"}}
			for name := range tc.containers {
				f.listed = append(f.listed, name)
			}
			got, err := docker.Provider{Engine: holding{f, tc.without}, Cluster: "demo"}.Administrators(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.unread || fault.CodeOf(err) != tc.code {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
