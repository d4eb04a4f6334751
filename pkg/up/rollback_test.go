package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A pivot is undone only where it is known that it was finished, or that an earlier rollback was begun.
func TestCanReturn(t *testing.T) {
	answers := &kube.Cluster{}
	both := func(b bootstrapState, m managementState) observation {
		return observation{bootstrap: bootstrapSide{state: b, cluster: answers}, management: managementSide{state: m, cluster: answers}}
	}
	for name, tc := range map[string]struct {
		o     observation
		v     verdict
		begun bool
		hint  string // "": it can
	}{
		"finished":                            {o: both(bootstrapMoved, managementActive), v: verdict{decision: pivoted}},
		"a rollback was cut off":              {o: both(bootstrapPaused, managementPaused), v: verdict{decision: finish}, begun: true},
		"a rollback has moved all":            {o: both(bootstrapActive, managementEmpty), v: verdict{decision: finish}, begun: true},
		"cut off":                             {o: both(bootstrapPaused, managementPaused), v: verdict{decision: finish}, hint: "pivot resume"},
		"not begun":                           {o: both(bootstrapActive, managementEmpty), v: verdict{decision: goOn}, hint: "cluster-init up"},
		"finished, and something is left":     {o: both(bootstrapPaused, managementActive), v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"the bootstrap cluster is new":        {o: both(bootstrapEmpty, managementActive), v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"no bootstrap cluster":                {o: observation{management: managementSide{state: managementActive, cluster: answers}}, v: verdict{decision: pivoted}, hint: "Put right"},
		"no management cluster":               {o: observation{bootstrap: bootstrapSide{state: bootstrapActive, cluster: answers}}, v: verdict{decision: goOn}, hint: "cluster-init up"},
		"no bootstrap cluster, and one begun": {o: observation{management: managementSide{state: managementPaused, cluster: answers}}, v: verdict{decision: finish}, begun: true, hint: "Put right"},
	} {
		t.Run(name, func(t *testing.T) {
			err := canReturn(tc.o, tc.v, tc.begun, "demo")
			if (err == nil) != (tc.hint == "") || err != nil && (fault.CodeOf(err) != fault.PivotRefused || !strings.Contains(fault.HintOf(err), tc.hint)) {
				t.Errorf("%v, hint %q, want %q", err, fault.HintOf(err), tc.hint)
			}
		})
	}
}
