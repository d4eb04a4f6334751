package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// A pivot is undone only where it is known that it was finished, or that an earlier rollback was begun.
func TestCanReturn(t *testing.T) {
	answers := &kube.Cluster{}
	both := func(b world.BootstrapState, m world.ManagementState) world.Observation {
		return world.Observation{Bootstrap: world.BootstrapSide{State: b, Cluster: answers}, Management: world.ManagementSide{State: m, Cluster: answers}}
	}
	for name, tc := range map[string]struct {
		o     world.Observation
		v     verdict
		begun bool
		hint  string // "": it can
	}{
		"finished":                            {o: both(world.BootstrapMoved, world.ManagementActive), v: verdict{decision: pivoted}},
		"a rollback was cut off":              {o: both(world.BootstrapPaused, world.ManagementPaused), v: verdict{decision: finish}, begun: true},
		"a rollback has moved all":            {o: both(world.BootstrapActive, world.ManagementEmpty), v: verdict{decision: begun}, begun: true},
		"begun, and nothing was moved":        {o: both(world.BootstrapActive, world.ManagementEmpty), v: verdict{decision: begun}, hint: "cluster-init up"},
		"cut off":                             {o: both(world.BootstrapPaused, world.ManagementPaused), v: verdict{decision: finish}, hint: "pivot resume"},
		"not begun":                           {o: both(world.BootstrapActive, world.ManagementEmpty), v: verdict{decision: goOn}, hint: "cluster-init up"},
		"finished, and something is left":     {o: both(world.BootstrapPaused, world.ManagementActive), v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"the bootstrap cluster is new":        {o: both(world.BootstrapEmpty, world.ManagementActive), v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"no bootstrap cluster":                {o: world.Observation{Management: world.ManagementSide{State: world.ManagementActive, Cluster: answers}}, v: verdict{decision: pivoted}, hint: "Put right"},
		"no management cluster":               {o: world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapActive, Cluster: answers}}, v: verdict{decision: goOn}, hint: "cluster-init up"},
		"no bootstrap cluster, and one begun": {o: world.Observation{Management: world.ManagementSide{State: world.ManagementPaused, Cluster: answers}}, v: verdict{decision: finish}, begun: true, hint: "Put right"},
	} {
		t.Run(name, func(t *testing.T) {
			err := canReturn(tc.o, tc.v, tc.begun, "demo")
			if (err == nil) != (tc.hint == "") || err != nil && (fault.CodeOf(err) != fault.PivotRefused || !strings.Contains(fault.HintOf(err), tc.hint)) {
				t.Errorf("%v, hint %q, want %q", err, fault.HintOf(err), tc.hint)
			}
		})
	}
}
