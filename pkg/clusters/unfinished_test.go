package clusters

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Only a run with this state folder may treat a node that kind is still creating as left behind.
func TestAnUnfinishedNodeMayBeSomebodyElses(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		id, maker string // empty: none
		age       time.Duration
		ahead     time.Duration // the engine's clock
		want      BootstrapState
	}{
		"of this state folder": {id: "one", maker: "one", age: time.Second,
			want: BootstrapUnfinished},
		"of another one, a moment ago": {id: "one", maker: "two", age: time.Second,
			want: BootstrapSilent},
		"of another one, and this one is new": {maker: "two", age: time.Second,
			want: BootstrapSilent},
		"of nobody known, a moment ago":        {id: "one", age: time.Second, want: BootstrapSilent},
		"of nobody known, and this one is new": {age: time.Second, want: BootstrapSilent},
		"of another one, which must have given up": {id: "one", maker: "two", age: kind.CreationBound,
			want: BootstrapUnfinished},
		"of another one, and the engine's clock was put back": {id: "one", maker: "two", age: -time.Minute,
			want: BootstrapSilent},
		"of another one, a moment ago by a clock that is ahead": {id: "one", maker: "two", age: time.Second,
			ahead: time.Hour, want: BootstrapSilent},
		"of another one, a moment ago by a clock that is behind": {id: "one", maker: "two", age: time.Second,
			ahead: -time.Hour, want: BootstrapSilent},
		"of one that gave up, by a clock that is ahead": {id: "one", maker: "two", age: kind.CreationBound,
			ahead: time.Hour, want: BootstrapUnfinished},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &World{Subject: Subject{Identity: IdentityOf(env), StateFolder: t.TempDir()},
				Parts: Parts{Now: func() time.Time { return now }}, ahead: tc.ahead}
			if tc.id != "" {
				if err := os.WriteFile(filepath.Join(u.StateFolder, "id"), []byte(tc.id+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			own, err := lease.ID(u.StateFolder)
			if err != nil {
				t.Fatal(err)
			}
			node := docker.Container{Created: now.Add(tc.ahead - tc.age)}
			if maker := tc.maker; maker != "" {
				if maker == tc.id {
					maker = own
				}
				node.Mounts = []docker.Mount{{Target: owned.MakerMarker(maker)}}
			}
			state, err := unfinishedNode(t.Context(), node, u.StateFolder, u.engineTime)
			side := u.sideOf("demo-bootstrap-control-plane", state, err)
			if side.State != tc.want || tc.want == BootstrapSilent && (fault.CodeOf(side.Err) != fault.Busy ||
				side.Remedy == "") {
				t.Errorf("%s (%v), want %s", side.State, side.Err, tc.want)
			}
		})
	}
}

// A bootstrap cluster of the user's own builds one management cluster at a time: the next one may have it once the one
// before has moved out.
func TestWhetherAnotherEnvironmentHasLeft(t *testing.T) {
	of := func(name string, labels map[string]string) []capi.Cluster {
		return []capi.Cluster{{Object: capi.Object{Kind: "Cluster", Namespace: "ns", Name: name}, Labels: labels}}
	}
	ours := map[string]string{"cluster-init.io/cluster": "a"}
	for name, tc := range map[string]struct {
		pivoted  bool
		clusters []capi.Cluster
		left     bool
	}{
		"it builds":                          {false, of("a", ours), false},
		"it has not made its Cluster yet":    {false, nil, false},
		"its pivot was begun":                {true, of("a", ours), false},
		"it has moved out":                   {true, nil, true},
		"a tenant's Cluster has its name":    {true, of("a", nil), true},
		"another one's Cluster stayed there": {true, of("b", ours), true},
	} {
		if got := leftBy("a", tc.pivoted, tc.clusters); got != tc.left {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A run that has nothing in any engine does not have kind call one either.
func TestNoEngineIsCalledThatIsNotNeeded(t *testing.T) {
	m := newMachine(t)
	m.write("listed", "")
	m.world.BootstrapKubeconfig, m.world.Docker.NotNeeded = "kubeconfig", true
	if side := m.world.seeOtherBootstrap(t.Context()); side.State != "" {
		t.Errorf("%s: %v", side.State, side.Err)
	}
}
