package down

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// side is what a cluster holds.
type side struct {
	state     string
	suspended bool
	down      bool
	deleting  bool
	verified  bool // its Cluster has the mark of a verified pivot
	byHand    bool // its Cluster is paused without the mark of a move
}

func seen(b, m side, machines []provider.Machine, machinesErr error) clusters.Observation {
	own := func(paused bool) clusters.Holding {
		object := capi.Object{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "ns", Name: "demo"}
		c := capi.Cluster{Object: object, Paused: paused}
		if paused {
			c.Annotations = map[string]string{"cluster-init.io/pivot": "ns/demo"} // by a move: see byHand
		}
		return clusters.Holding{Objects: []capi.Object{object}, Clusters: []capi.Cluster{c}}
	}
	connected := &kube.Cluster{Config: &rest.Config{Host: "https://192.0.2.1:6443"}}
	o := clusters.Observation{Machines: machines, MachinesErr: machinesErr,
		Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapState(b.state), Suspended: b.suspended,
			TeardownRequested: b.down},
		Management: clusters.ManagementSide{State: clusters.ManagementState(m.state), Suspended: m.suspended,
			TeardownRequested: m.down,
			Named:             "/state/kubeconfig"}}
	switch b.state {
	case "active", "paused":
		o.Bootstrap.Cluster, o.Bootstrap.Holds = connected, own(b.state == "paused")
		if b.byHand {
			o.Bootstrap.Holds.Clusters[0].Annotations = nil
		}
		if b.verified {
			o.Bootstrap.Holds.Clusters[0].Annotations = map[string]string{"cluster-init.io/pivot-verified": "uid-in-the-management-cluster"}
		}
	case "empty", "moved":
		o.Bootstrap.Cluster = connected
	case "silent":
		o.Bootstrap.Err = errors.New("no route to host")
	case "foreign":
		o.Bootstrap.Err = fault.New(fault.ClusterForeign, "not ours", "")
	}
	switch m.state {
	case "active", "paused":
		o.Management.Cluster, o.Management.Holds = connected, own(m.state == "paused")
		o.Management.Holds.Clusters[0].Deleting = m.deleting
		if m.byHand {
			o.Management.Holds.Clusters[0].Annotations = nil
		}
	case "empty":
		o.Management.Cluster = connected
	case "silent":
		o.Management.Err = errors.New("i/o timeout")
	case "foreign":
		o.Management.Err = fault.New(fault.ClusterForeign, "another cluster", "")
	}
	return o
}

// TestJudge has a row for every combination that can occur. docs/design/down.md shows the same.
func TestJudge(t *testing.T) {
	some, cannot, timeout := []provider.Machine{{Name: "demo-1"}}, provider.ErrNotSupported, errors.New("timeout")
	absent, unfinished, empty := side{state: "absent"}, side{state: "unfinished"}, side{state: "empty"}
	active, paused, silent := side{state: "active"}, side{state: "paused"}, side{state: "silent"}
	moved := side{state: "moved", suspended: true}
	// Flux in it is suspended for a move out of it.
	leaving := func(state string) side { return side{state: state, suspended: true} }
	deleted := side{state: "empty", down: true}
	for name, tc := range map[string]struct {
		bootstrap, management side
		machines              []provider.Machine
		machinesErr           error
		want                  decision
		code                  fault.Code
		says                  string
	}{
		"a finished cluster":                                       {absent, active, some, nil, moveBack, "", ""},
		"with a kept bootstrap cluster":                            {moved, active, some, nil, moveBack, "", ""},
		"kind was interrupted while it made the bootstrap cluster": {unfinished, active, some, nil, moveBack, "", ""},
		"the bootstrap cluster is made":                            {empty, active, some, nil, moveBack, "", ""},
		"Flux was suspended for the move back": {empty, leaving("active"), some, nil, moveBack, "",
			""},
		"the move back paused the Cluster": {empty, leaving("paused"), some, nil, moveBack, "",
			""},
		"the move back copied it": {paused, leaving("paused"), some, nil, moveBack, "",
			""},
		"the move back deleted it at its source": {paused, leaving("empty"), some, nil, moveBack, "", ""},
		"the move back is over":                  {active, leaving("empty"), some, nil, remove, "", ""},
		"and something is left, paused":          {active, leaving("paused"), some, nil, remove, "", ""},
		"it is being deleted": {side{state: "active", down: true, suspended: true},
			silent, some, nil, remove, "", ""},
		"it is being deleted, and machines stop": {side{state: "active", down: true}, silent,
			[]provider.Machine{{Name: "demo-1", Stopped: true}}, nil, remove, "", ""},
		"it is deleted": {deleted, silent, nil, nil, sweep, "", ""},
		"it is deleted, and Flux is suspended": {side{state: "moved", down: true, suspended: true},
			silent, nil, nil, sweep, "", ""},
		"it is deleted, where nobody can be asked": {deleted, silent, nil, cannot, sweep, "", ""},
		"it is deleted, and a machine is there": {deleted, silent, some, nil, refuse,
			fault.ClusterFailed, "demo-1"},
		"it is deleted, and the cloud does not answer": {deleted, silent, nil, timeout, refuse,
			fault.ClusterUnreachable, "does not answer"},
		"nothing is there":                      {absent, absent, nil, nil, sweep, "", ""},
		"nothing but a kubeconfig":              {absent, silent, nil, nil, sweep, "", ""},
		"an up that never got to a Cluster":     {empty, absent, nil, nil, sweep, "", ""},
		"before the pivot":                      {active, empty, some, nil, remove, "", ""},
		"before the management cluster answers": {active, silent, some, nil, remove, "", ""},
		"after a rollback": {side{state: "active", verified: true}, empty, some,
			nil, remove, "", ""},
		"after a rollback, and nobody answers": {side{state: "active", verified: true}, silent, some,
			nil, refuse, fault.ClusterUnreachable, "before a rollback"},
		"after a rollback, and nobody knows its kubeconfig": {side{state: "active", verified: true}, absent, some,
			nil, refuse, fault.ClusterUnreachable, "before a rollback"},
		"after a rollback it is being deleted": {side{state: "active", verified: true, down: true},
			silent, some, nil, remove, "", ""},
		"a pivot was begun, and nobody answers": {side{state: "active", suspended: true}, silent, some,
			nil, refuse, fault.ClusterUnreachable, "its progress is not known"},
		"a pivot was interrupted": {paused, paused, some, nil, refuse, fault.PivotRefused,
			"not finished"},
		"a pivot was interrupted at its end": {moved, paused, some, nil, refuse, fault.PivotRefused,
			"not finished"},
		"a move back was interrupted, and nobody answers": {paused, silent, some, nil, refuse,
			fault.ClusterUnreachable, "does not answer"},
		"both hold it, active": {active, leaving("active"), some, nil, refuse,
			fault.PivotFailed, "interrupted"},
		"somebody paused it": {absent, paused, some, nil, refuse, fault.PivotRefused,
			"is paused"},
		"somebody paused it during the build": {side{state: "paused", byHand: true}, absent, some, nil,
			refuse, fault.PivotRefused, "is paused in the bootstrap cluster, and not by a move"},
		"and its API does not answer yet": {side{state: "paused", byHand: true}, silent, some, nil,
			refuse, fault.PivotRefused, "is paused in the bootstrap cluster, and not by a move"},
		"somebody paused it before the pivot": {side{state: "paused", byHand: true}, empty, some, nil,
			refuse, fault.PivotRefused, "is paused in the bootstrap cluster, and not by a move"},
		"somebody paused it once a pivot was begun": {side{state: "paused", byHand: true, suspended: true},
			empty, some, nil, refuse, fault.PivotRefused, "is paused in the bootstrap cluster, and not by a move"},
		"somebody paused it, and both hold it": {side{state: "paused", byHand: true}, active, some, nil,
			refuse, fault.PivotRefused, "not finished"},
		"somebody paused it after the pivot": {moved, side{state: "paused", byHand: true}, some, nil,
			refuse, fault.PivotRefused, "is paused in the management cluster"},
		"somebody paused it once a move back was begun": {empty,
			side{state: "paused", byHand: true, suspended: true}, some, nil, refuse, fault.PivotRefused,
			"is paused in the management cluster"},
		"the definition is lost": {absent, empty, some, nil, refuse, fault.PivotFailed,
			"nobody manages"},
		"it was moved into a bootstrap cluster elsewhere": {absent, leaving("empty"), some, nil, refuse,
			fault.ClusterUnreachable, "moved out of"},
		"somebody deleted it in itself": {absent, side{state: "active", deleting: true}, some,
			nil, refuse, fault.ClusterFailed, "itself"},
		"its machine is paused": {absent, silent,
			[]provider.Machine{{Name: "demo-1", Paused: true}}, nil, refuse, fault.ClusterUnreachable,
			"does not answer"},
		"the management cluster does not answer": {absent, silent, some, nil, refuse,
			fault.ClusterUnreachable, "only it can delete"},
		"it does not answer, and nobody can be asked": {absent, silent, nil, cannot, refuse,
			fault.ClusterUnreachable, "does not answer"},
		"no kubeconfig, and machines": {absent, absent, some, nil, refuse,
			fault.ClusterUnreachable, "demo-1"},
		"no kubeconfig, and nobody can be asked": {absent, absent, nil, cannot, refuse,
			fault.ClusterUnreachable, "no kubeconfig"},
		"no kubeconfig, and the cloud does not answer": {absent, absent, nil, timeout, refuse,
			fault.ClusterUnreachable, "not known"},
		"the bootstrap cluster does not answer": {silent, active, some, nil, refuse,
			fault.ClusterUnreachable, "its content is not known"},
		"somebody else's bootstrap cluster": {side{state: "foreign"}, active, some, nil, refuse,
			fault.ClusterForeign, ""},
		"somebody else's management cluster": {absent, side{state: "foreign"}, some, nil, refuse,
			fault.ClusterForeign, ""},
		"a machine is stopped": {absent, silent,
			[]provider.Machine{{Name: "demo-1", Stopped: true}}, nil, start, "", ""},
		"the bootstrap cluster is stopped": {side{state: "stopped"}, active, some, nil, start, "",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			r := request{environment: "env", cluster: "demo", namespace: "ns", place: "Docker"}
			v := judge(seen(tc.bootstrap, tc.management, tc.machines, tc.machinesErr), r)
			if v.decision != tc.want || (v.decision == refuse) != (v.refusal != nil) ||
				fault.CodeOf(v.refusal) != tc.code && v.refusal != nil {
				t.Fatalf("%s (%s, %v), want %s %s", v.decision, v.reason, v.refusal, tc.want, tc.code)
			}
			if v.refusal != nil && !strings.Contains(v.refusal.Error(), tc.says) {
				t.Errorf("%v does not say %q", v.refusal, tc.says)
			}
			if v.refusal != nil && tc.code != fault.ClusterForeign && fault.HintOf(v.refusal) == "" {
				t.Errorf("%v has no hint", v.refusal)
			}
			if strings.Contains(fault.HintOf(v.refusal), `{"spec":{"paused":null}`) && // by the field or annotation
				!strings.Contains(fault.HintOf(v.refusal), `"cluster.x-k8s.io/paused":null`) {
				t.Errorf("the hint does not remove the annotation: %s", fault.HintOf(v.refusal))
			}
			if v.decision != refuse && v.decision != start && v.reason == "" {
				t.Error("it does not say what was seen")
			}
		})
	}
}

// `down` deletes no cluster that exists without cluster-init.
func TestAnInstalledClusterIsRefused(t *testing.T) {
	o := seen(side{state: string(clusters.BootstrapAbsent)}, side{state: string(clusters.ManagementEmpty)}, nil, nil)
	o.Management.Installed = true
	v := judge(o, request{environment: "env", cluster: "demo", namespace: "ns"})
	if v.decision != refuse || fault.CodeOf(v.refusal) != fault.ClusterForeign {
		t.Errorf("%s: %v", v.decision, v.refusal)
	}
}
