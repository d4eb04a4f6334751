package up

import (
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// If both clusters answer and are managed, a preview is possible whatever the verdict is. If one is not known, none is.
func TestShowable(t *testing.T) {
	answers := &kube.Cluster{}
	bootstrap := func(state clusters.BootstrapState) clusters.BootstrapSide {
		return clusters.BootstrapSide{State: state, Cluster: answers}
	}
	management := func(state clusters.ManagementState) clusters.ManagementSide {
		return clusters.ManagementSide{State: state, Cluster: answers}
	}
	foreign := fault.New(fault.ClusterForeign, "somebody else's", "leave it")
	for name, tc := range map[string]struct {
		o    clusters.Observation
		v    verdict
		want fault.Code
	}{
		"before the pivot": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: management(clusters.ManagementEmpty)}, verdict{decision: beforePivot}, ""},
		"a worker is stopped": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: management(clusters.ManagementEmpty)}, verdict{decision: start}, ""},
		"both hold it, and a run stops": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: management(clusters.ManagementActive)},
			verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "conflict", "compare")}, ""},
		"it is being taken down": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapActive,
			Cluster: answers, TeardownRequested: true}, Management: management(clusters.ManagementEmpty)},
			verdict{decision: refuse, refusal: fault.New(fault.Busy, "is being taken down", "go on")},
			fault.PivotRefused},
		"it is being taken down in itself": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapMoved),
			Management: clusters.ManagementSide{State: clusters.ManagementActive, Cluster: answers,
				TeardownRequested: true}},
			verdict{decision: refuse, refusal: fault.New(fault.Busy, "is being taken down", "go on")},
			fault.PivotRefused},
		"after the pivot": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapAbsent},
			Management: management(clusters.ManagementActive)},
			verdict{decision: pivoted}, ""},
		"machines of somebody else": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: management(clusters.ManagementEmpty)}, verdict{decision: refuse, refusal: foreign},
			fault.ClusterForeign},
		"somebody else's cluster": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapForeign,
			Err: foreign}}, verdict{decision: refuse, refusal: foreign}, fault.ClusterForeign},
		"the bootstrap cluster is silent": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapSilent}, Management: management(clusters.ManagementActive)},
			verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable, "silent", "see")},
			fault.ClusterUnreachable},
		"the bootstrap cluster is stopped": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapStopped}}, verdict{decision: start}, fault.ClusterUnreachable},
		"the management cluster does not answer yet": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: clusters.ManagementSide{State: clusters.ManagementSilent, Err: errors.New("timeout")}},
			verdict{decision: beforePivot}, fault.ClusterUnreachable},
		"there is no management cluster yet": {clusters.Observation{Bootstrap: bootstrap(clusters.BootstrapActive),
			Management: clusters.ManagementSide{State: clusters.ManagementAbsent}},
			verdict{decision: beforePivot}, fault.PivotRefused},
		"nothing of it exists": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapAbsent},
			Management: clusters.ManagementSide{State: clusters.ManagementAbsent}},
			verdict{decision: fresh}, fault.PivotRefused},
		"the management cluster is paused, and the bootstrap cluster gone": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapAbsent}, Management: management(clusters.ManagementPaused)},
			verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, "paused", "resume it")},
			fault.PivotRefused},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkPreview(tc.o, tc.v, request{cluster: "demo", environment: "kubeadm-capd"})
			if fault.CodeOf(err) != tc.want || err != nil && fault.HintOf(err) == "" {
				t.Errorf("got %v (%s), want %q with a hint", err, fault.CodeOf(err), tc.want)
			}
		})
	}
}
