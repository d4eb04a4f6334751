package cleanup_test

import (
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
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
