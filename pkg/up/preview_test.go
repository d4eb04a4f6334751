package up

import (
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// Where both clusters answer and are ours they can be shown, whatever a run would say; where one is not known nothing
// is.
func TestShowable(t *testing.T) {
	answers := &kube.Cluster{}
	bootstrap := func(state world.BootstrapState) world.BootstrapSide {
		return world.BootstrapSide{State: state, Cluster: answers}
	}
	management := func(state world.ManagementState) world.ManagementSide {
		return world.ManagementSide{State: state, Cluster: answers}
	}
	foreign := fault.New(fault.ClusterForeign, "somebody else's", "leave it")
	for name, tc := range map[string]struct {
		o    world.Observation
		v    verdict
		want fault.Code
	}{
		"before the pivot": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: management(world.ManagementEmpty)}, verdict{decision: goOn}, ""},
		"a worker is stopped": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: management(world.ManagementEmpty)}, verdict{decision: start}, ""},
		"both hold it, and a run stops": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: management(world.ManagementActive)},
			verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "conflict", "compare")}, ""},
		"it is being taken down": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapActive,
			Cluster: answers, Down: true}, Management: management(world.ManagementEmpty)},
			verdict{decision: refuse, refusal: fault.New(fault.Busy, "is being taken down", "go on")},
			fault.PivotRefused},
		"it is being taken down in itself": {world.Observation{Bootstrap: bootstrap(world.BootstrapMoved),
			Management: world.ManagementSide{State: world.ManagementActive, Cluster: answers, Down: true}},
			verdict{decision: refuse, refusal: fault.New(fault.Busy, "is being taken down", "go on")},
			fault.PivotRefused},
		"after the pivot": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapAbsent},
			Management: management(world.ManagementActive)},
			verdict{decision: pivoted}, ""},
		"machines of somebody else": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: management(world.ManagementEmpty)}, verdict{decision: refuse, refusal: foreign},
			fault.ClusterForeign},
		"somebody else's cluster": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapForeign,
			Err: foreign}}, verdict{decision: refuse, refusal: foreign}, fault.ClusterForeign},
		"the bootstrap cluster is silent": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapSilent}, Management: management(world.ManagementActive)},
			verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable, "silent", "see")},
			fault.ClusterUnreachable},
		"the bootstrap cluster is stopped": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapStopped}}, verdict{decision: start}, fault.ClusterUnreachable},
		"the management cluster does not answer yet": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: world.ManagementSide{State: world.ManagementSilent, Err: errors.New("timeout")}},
			verdict{decision: goOn}, fault.ClusterUnreachable},
		"there is no management cluster yet": {world.Observation{Bootstrap: bootstrap(world.BootstrapActive),
			Management: world.ManagementSide{State: world.ManagementAbsent}},
			verdict{decision: goOn}, fault.PivotRefused},
		"nothing of it exists": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapAbsent},
			Management: world.ManagementSide{State: world.ManagementAbsent}},
			verdict{decision: fresh}, fault.PivotRefused},
		"the management cluster is paused, and the bootstrap cluster gone": {world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapAbsent}, Management: management(world.ManagementPaused)},
			verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "paused", "resume it")},
			fault.PivotRefused},
	} {
		t.Run(name, func(t *testing.T) {
			err := showable(tc.o, tc.v, request{cluster: "demo", environment: "kubeadm-capd"})
			if fault.CodeOf(err) != tc.want || err != nil && fault.HintOf(err) == "" {
				t.Errorf("got %v (%s), want %q with a hint", err, fault.CodeOf(err), tc.want)
			}
		})
	}
}
