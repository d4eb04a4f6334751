package up

import (
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Where both clusters answer and are ours they can be shown, whatever a run would say; where one is not known nothing is.
func TestShowable(t *testing.T) {
	answers := &kube.Cluster{}
	bootstrap := func(state bootstrapState) bootstrapSide { return bootstrapSide{state: state, cluster: answers} }
	management := func(state managementState) managementSide { return managementSide{state: state, cluster: answers} }
	foreign := fault.New(fault.ClusterForeign, "somebody else's", "leave it")
	for name, tc := range map[string]struct {
		o    observation
		v    verdict
		want fault.Code
	}{
		"before the pivot":              {observation{bootstrap: bootstrap(bootstrapActive), management: management(managementEmpty)}, verdict{decision: goOn}, ""},
		"a worker is stopped":           {observation{bootstrap: bootstrap(bootstrapActive), management: management(managementEmpty)}, verdict{decision: start}, ""},
		"both hold it, and a run stops": {observation{bootstrap: bootstrap(bootstrapActive), management: management(managementActive)}, verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "conflict", "compare")}, ""},
		"after the pivot": {observation{bootstrap: bootstrapSide{state: bootstrapAbsent}, management: management(managementActive)},
			verdict{decision: pivoted}, ""},
		"machines of somebody else": {observation{bootstrap: bootstrap(bootstrapActive), management: management(managementEmpty)}, verdict{decision: refuse, refusal: foreign}, fault.ClusterForeign},
		"somebody else's cluster":   {observation{bootstrap: bootstrapSide{state: bootstrapForeign, err: foreign}}, verdict{decision: refuse, refusal: foreign}, fault.ClusterForeign},
		"the bootstrap cluster is silent": {observation{bootstrap: bootstrapSide{state: bootstrapSilent}, management: management(managementActive)},
			verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable, "silent", "see")}, fault.ClusterUnreachable},
		"the bootstrap cluster is stopped": {observation{bootstrap: bootstrapSide{state: bootstrapStopped}}, verdict{decision: start}, fault.ClusterUnreachable},
		"the management cluster does not answer yet": {observation{bootstrap: bootstrap(bootstrapActive),
			management: managementSide{state: managementSilent, err: errors.New("timeout")}}, verdict{decision: goOn}, fault.ClusterUnreachable},
		"there is no management cluster yet": {observation{bootstrap: bootstrap(bootstrapActive), management: managementSide{state: managementAbsent}},
			verdict{decision: goOn}, fault.PivotRefused},
		"nothing of it exists": {observation{bootstrap: bootstrapSide{state: bootstrapAbsent}, management: managementSide{state: managementAbsent}},
			verdict{decision: fresh}, fault.PivotRefused},
		"the management cluster is paused, and the bootstrap cluster gone": {observation{bootstrap: bootstrapSide{state: bootstrapAbsent}, management: management(managementPaused)},
			verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "paused", "resume it")}, fault.PivotRefused},
	} {
		t.Run(name, func(t *testing.T) {
			err := showable(tc.o, tc.v, request{cluster: "demo", environment: "kubeadm-capd"})
			if fault.CodeOf(err) != tc.want || err != nil && fault.HintOf(err) == "" {
				t.Errorf("got %v (%s), want %q with a hint", err, fault.CodeOf(err), tc.want)
			}
		})
	}
}
