package cleanup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// A bootstrap cluster that another run is creating has no lease yet: it counts as busy.
func TestARunThatMakesTheBootstrapClusterIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		created time.Time
		force   bool
		code    fault.Code
		forced  int // conflicts that were overridden
	}{
		"another run makes it":        {time.Now(), false, fault.Busy, 0},
		"another run makes it, force": {time.Now(), true, fault.CodeOf(nil), 1},
		"its maker gave up":           {time.Now().Add(-24 * time.Hour), false, fault.CodeOf(nil), 0},
	} {
		t.Run(name, func(t *testing.T) {
			engine := bootstrapped(t, api{clusters: clusterObject("ns", "a", "")})
			engine.finished = false
			container := engine.containers[bootstrapNode]
			container.Created = tc.created
			engine.containers = map[string]docker.Container{bootstrapNode: container}
			plan, err := cleanup.Discover(t.Context(), engine, target)
			if err != nil {
				t.Fatal(err)
			}
			o, forced := cleanup.Observer{Engine: engine, Target: target, StateFolder: t.TempDir()}, 0
			if tc.force {
				o.Forced = func(error) { forced++ }
			}
			err = o.Alone(t.Context(), plan)
			if fault.CodeOf(err) != tc.code || forced != tc.forced || (err != nil) != (tc.code == fault.Busy) {
				t.Errorf("%v, overridden: %d", err, forced)
			}
		})
	}
}

// A cluster of --kubeconfig counts as the target's if it holds its Cluster. What Alone waits for is reported, also
// without Leases.
func TestALeaseIsCheckedWithoutTakingIt(t *testing.T) {
	itself := api{held: true, clusters: clusterObject("ns", "a", "")}
	for name, tc := range map[string]struct {
		saved, given api
		code         fault.Code
	}{
		"by the kubeconfig of up":   {api{held: true}, api{bare: true}, fault.Busy},
		"by --kubeconfig":           {api{bare: true}, itself, fault.Busy},
		"by --kubeconfig alone":     {api{}, itself, fault.Busy},
		"any cluster":               {api{}, api{held: true, clusters: clusterObject("ns", "b", "")}, ""},
		"one of its name elsewhere": {api{}, api{held: true, clusters: clusterObject("else", "a", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			state, waits := t.TempDir(), 0
			o := cleanup.Observer{Engine: &engineOf{}, Target: target, StateFolder: state,
				Kubeconfig: filepath.Join(t.TempDir(), "given"), Waiting: func(string) { waits++ },
				Timing: lease.Timing{Duration: 3 * time.Second, Deadline: 2 * time.Second,
					Retry: 100 * time.Millisecond}}
			write := func(path string, server api) {
				if err := os.WriteFile(path, []byte(server.serve(t)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(o.Kubeconfig, tc.given)
			if tc.saved != (api{}) {
				write(filepath.Join(state, "kubeconfig"), tc.saved)
			}
			err := o.Alone(t.Context(), cleanup.Plan{})
			if busy := err != nil; fault.CodeOf(err) != tc.code || busy != (waits == 1) {
				t.Errorf("%v, %d waits", err, waits)
			}
		})
	}
}
