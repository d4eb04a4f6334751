package clusters

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

func TestWhatIsStoppedForAMomentIsNotStopped(t *testing.T) {
	stopped := func(names ...string) (all []provider.Machine) {
		for _, name := range names {
			all = append(all, provider.Machine{Name: name, Stopped: true})
		}
		return all
	}
	for name, tc := range map[string]struct {
		node   string // the state of the bootstrap cluster's container
		before []provider.Machine
		then   func(m *machine)
		want   []provider.Machine
		state  BootstrapState
		pauses int
	}{
		"nothing is": {"", []provider.Machine{{Name: "a"}}, nil, []provider.Machine{{Name: "a"}},
			BootstrapAbsent, 0},
		"it stays so": {"exited", stopped("a"), func(*machine) {}, stopped("a"), BootstrapStopped, 1},
		"it was being deleted": {"exited", stopped("a"), func(m *machine) { m.machines = nil; m.remove(nodeName) },
			nil, BootstrapAbsent, 1},
		"another one is now": {"", stopped("a"), func(m *machine) { m.machines = stopped("b") },
			[]provider.Machine{{Name: "b"}}, BootstrapAbsent, 1},
		"the node has just begun": {"", stopped("a"), func(m *machine) { m.container(nodeName, "exited", true) },
			stopped("a"), BootstrapSilent, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.machines = tc.before
			if tc.node != "" {
				m.container(nodeName, tc.node, true)
			}
			m.world.pause = func(context.Context) { m.paused++; tc.then(m) }
			o := m.world.ObserveLasting(t.Context())
			if diff := cmp.Diff(tc.want, o.Machines); diff != "" || o.Bootstrap.State != tc.state ||
				m.paused != tc.pauses {
				t.Errorf("%q, %d pauses\n%s", o.Bootstrap.State, m.paused, diff)
			}
			if (o.Bootstrap.State == BootstrapSilent) != (o.Bootstrap.Err != nil) {
				t.Errorf("%q: %v", o.Bootstrap.State, o.Bootstrap.Err)
			}
		})
	}
}

// A management cluster that was silent is not asked again: the silence of an API server takes seconds.
func TestASilentClusterIsAskedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		token string // that the API server accepts
		state ManagementState
		times int64
	}{"it is silent": {"nobody's", ManagementSilent, 1}, "it answers": {"t", ManagementActive, 2}} {
		t.Run(name, func(t *testing.T) {
			m, s := place(t)
			s.kept, s.token = s.with(t, "t"), tc.token
			saveAt(t, m.world.savedPath(), s.kept)
			m.machines = []provider.Machine{{Name: "a", Stopped: true}}
			m.world.pause = func(context.Context) {}
			m.world.Observe(t.Context())
			once := s.asked.Swap(0)
			o := m.world.ObserveLasting(t.Context())
			if got := s.asked.Load(); o.Management.State != tc.state || got != tc.times*once {
				t.Errorf("%s after %d requests, want %s after %d", o.Management.State, got, tc.state, tc.times*once)
			}
		})
	}
}

func (m *machine) remove(name string) {
	m.t.Helper()
	if err := os.Remove(filepath.Join(m.folder, name)); err != nil {
		m.t.Fatal(err)
	}
}
