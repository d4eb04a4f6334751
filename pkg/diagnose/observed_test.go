package diagnose

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// An observation of the clusters alone shows stopped and paused containers, and clusters that do not answer.
func TestWhatAnObservationShows(t *testing.T) {
	silent := errors.New("context deadline exceeded")
	machine := func(paused, stopped bool) clusters.Observation {
		return clusters.Observation{Machines: []provider.Machine{{Name: "m", Paused: paused, Stopped: stopped}}}
	}
	for name, tc := range map[string]struct {
		observation clusters.Observation
		want        []string
	}{
		"nothing":          {clusters.Observation{}, nil},
		"a running one":    {machine(false, false), nil},
		"a stopped one":    {machine(false, true), []string{"stopped-container Container/m"}},
		"a paused one":     {machine(true, false), []string{"paused-container Container/m"}},
		"paused is paused": {machine(true, true), []string{"paused-container Container/m"}},
		"a stopped bootstrap cluster": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapStopped}},
			[]string{"stopped-container Container/demo-node"}},
		"an active bootstrap cluster": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapActive}},
			nil},
		"silent clusters": {clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapSilent, Err: silent},
			Management: clusters.ManagementSide{State: clusters.ManagementSilent, Err: silent}},
			[]string{"api-silent APIServer/bootstrap", "api-silent APIServer/management"}},
	} {
		r, err := Case{Observed: observedIn(tc.observation, "demo-node")}.Report()
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Rule+" "+f.Object)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" || len(r.Waiting) > 0 {
			t.Error(name, err, diff, r.Waiting)
		}
	}
}

// What no rule knows is reported in its own words, and as waiting.
func TestAnObservationThatNoRuleKnows(t *testing.T) {
	o := Signals{health.Ref{Kind: "APIServer", Name: "management"}, []Signal{{Origin: "error", Message: "odd"}}}
	r, err := Case{Environment: "demo", Observed: []Signals{o}}.Report()
	if err != nil || len(r.Findings) > 0 || len(r.Waiting) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	if r.Waiting[0].Cause != "odd" || len(r.Waiting[0].Chain) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	err = r.Err()
	if fault.CodeOf(err) != fault.ClusterUnreachable || !strings.Contains(err.Error(), "APIServer/management: odd") {
		t.Error(err)
	}
}

func TestMachinesThatAreNotKnown(t *testing.T) {
	if got := machinesUnknown(clusters.Observation{}, &cloud{}); len(got) > 0 {
		t.Errorf("they are known: %v", got)
	}
	if got := machinesUnknown(clusters.Observation{MachinesErr: errors.New("denied")}, &cloud{}); len(got) != 1 {
		t.Errorf("they are not known: %v", got)
	}
}

// A run is over when the management cluster alone holds its definition: from then on nothing heals by waiting.
func TestFinished(t *testing.T) {
	for _, tc := range []struct {
		bootstrap  clusters.BootstrapState
		management clusters.ManagementState
		want       bool
	}{
		{clusters.BootstrapAbsent, clusters.ManagementActive, true},
		{clusters.BootstrapMoved, clusters.ManagementActive, true},
		{clusters.BootstrapActive, clusters.ManagementActive, false},
		{clusters.BootstrapPaused, clusters.ManagementActive, false},
		{clusters.BootstrapAbsent, clusters.ManagementPaused, false},
		{clusters.BootstrapAbsent, clusters.ManagementEmpty, false},
	} {
		o := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: tc.bootstrap},
			Management: clusters.ManagementSide{State: tc.management}}
		if got := finished(o); got != tc.want {
			t.Errorf("bootstrap %s, management %s: %v", tc.bootstrap, tc.management, got)
		}
	}
}

// suspendedByHand is a Kustomization that a person has suspended.
const suspendedByHand = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec: {suspend: true}
`

// What a pivot holds, or a teardown ends, is meant to be so. A run that builds a cluster may yet heal what is wrong.
func TestWhatIsMeantToBeSo(t *testing.T) {
	for name, tc := range map[string]struct {
		seen   Seen
		reads  bool // whether a finding is there
		lasts  bool // whether it is permanent
		object string
	}{
		"suspended by hand":    {Seen{}, true, true, suspendedByHand},
		"suspended in a pivot": {Seen{SuspendedForPivot: true}, false, false, suspendedByHand},
		"in a teardown":        {Seen{BeingDeleted: true}, false, false, suspendedByHand},
		"while a run builds":   {Seen{Building: true}, true, false, suspendedByHand},
	} {
		tc.seen.Observation = readiness.Observation{Cluster: "management", Objects: decode(t, tc.object)}
		found := unhealthy(tc.seen, nil)
		if (len(found) == 1) != tc.reads || tc.reads && found[0].Lasting() != tc.lasts {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// A rule's finding replaces what the readiness checks report of the same object.
func TestAFindingThatRulesExplain(t *testing.T) {
	const object = "Kustomization/flux-system/a"
	for name, tc := range map[string]struct {
		explained Finding
		want      int
	}{
		"the object":       {Finding{Object: object}, 0},
		"what it delays":   {Finding{Object: "Pod/a/b", Delays: []string{object}}, 0},
		"what is above it": {Finding{Object: "Pod/a/b", Chain: []Link{{Object: object}, {Object: "Pod/a/b"}}}, 0},
		"another object": {Finding{Object: "Pod/a/b", Delays: []string{"Pod/a/c"},
			Chain: []Link{{Object: "Pod/a/b"}}}, 1},
	} {
		seen := Seen{Observation: readiness.Observation{Objects: decode(t, suspendedByHand)}}
		if found := unhealthy(seen, []Finding{tc.explained}); len(found) != tc.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// What waits because of an unhealthy object is not reported a second time.
func TestWhatWaitsForAnUnhealthyObject(t *testing.T) {
	sick := []Finding{{Object: "Node/a"}}
	chain := func(objects ...string) (links []Link) {
		for _, o := range objects {
			links = append(links, Link{Object: o})
		}
		return links
	}
	for name, tc := range map[string]struct {
		waiting Finding
		kept    bool
	}{
		"the object":        {Finding{Object: "Node/a"}, false},
		"what waits for it": {Finding{Object: "Pod/a/b", Chain: chain("Deployment/a/b", "Node/a")}, false},
		"what has no part":  {Finding{Object: "Pod/a/b", Chain: chain("Deployment/a/b", "Pod/a/b")}, true},
		"without any chain": {Finding{Object: "Pod/a/b"}, true},
	} {
		if got := unexplained([]Finding{tc.waiting}, sick); (len(got) == 1) != tc.kept {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
