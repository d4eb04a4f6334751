package up

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// seen makes an observation as the real one would: what each side holds follows from its state.
func seen(b bootstrapState, m managementState, machines ...provider.Machine) observation {
	own := func(paused bool) pivot.Holding {
		object := capi.Object{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "ns", Name: "demo"}
		return pivot.Holding{Objects: []capi.Object{object}, Clusters: []capi.Cluster{{Object: object, Paused: paused}}}
	}
	o := observation{bootstrap: bootstrapSide{state: b}, management: managementSide{state: m, named: "/state/kubeconfig", proven: true}, machines: machines}
	connected := &kube.Cluster{Config: &rest.Config{Host: "https://192.0.2.1:6443"}}
	switch b {
	case bootstrapForeign:
		o.bootstrap.err = fault.New(fault.ClusterForeign, "not ours", "")
	case bootstrapSilent:
		o.bootstrap.err = errors.New("no route to host")
	case bootstrapEmpty, bootstrapMoved:
		o.bootstrap.cluster, o.bootstrap.suspended = connected, b == bootstrapMoved
	case bootstrapActive, bootstrapPaused:
		o.bootstrap.cluster, o.bootstrap.holds, o.bootstrap.suspended = connected, own(b == bootstrapPaused), b == bootstrapPaused
	}
	switch m {
	case managementForeign:
		o.management.err = fault.New(fault.ClusterForeign, "another cluster", "")
	case managementSilent:
		o.management.err = errors.New("i/o timeout")
	case managementEmpty:
		o.management.cluster = connected
	case managementActive, managementPaused:
		o.management.cluster, o.management.holds = connected, own(m == managementPaused)
	}
	return o
}

var thisRun = request{environment: "env", cluster: "demo", namespace: "ns", place: "Docker", node: "demo-bootstrap-control-plane", kubeconfig: "/state/kubeconfig", backups: "/state"}

// The table of verdicts: a row for each state of the bootstrap cluster, a column for each of the management cluster, without machines.
// A refusal is written as its exit code's fault; ? means that it is asked again for a while.
func TestVerdicts(t *testing.T) {
	columns := []managementState{managementAbsent, managementSilent, managementForeign, managementEmpty, managementActive, managementPaused}
	const (
		foreign = "cluster/foreign"
		silent  = "cluster/unreachable?"
		nowhere = "cluster/unreachable"
		stuck   = "pivot/failed"
	)
	table := map[bootstrapState][]string{
		bootstrapAbsent:     {"fresh", "fresh", foreign, stuck, "pivoted", stuck},
		bootstrapUnfinished: {"fresh", "fresh", foreign, stuck, "pivoted", stuck},
		bootstrapEmpty:      {"go on", "go on", foreign, stuck, "pivoted", stuck},
		bootstrapForeign:    {foreign, foreign, foreign, foreign, foreign, foreign},
		bootstrapStopped:    {"start", "start", "start", "start", "start", "start"},
		bootstrapSilent:     {silent, silent, silent, silent, silent, silent},
		bootstrapMoved:      {nowhere, silent, foreign, stuck, "pivoted", "finish"},
		bootstrapActive:     {"go on", "go on", foreign, "go on", stuck, stuck},
		bootstrapPaused:     {stuck, silent, foreign, "finish", "pivoted", "finish"},
	}
	for b, row := range table {
		for i, m := range columns {
			if got := short(judge(seen(b, m), thisRun)); got != row[i] {
				t.Errorf("bootstrap cluster %s, management cluster %s: %s, want %s", b, m, got, row[i])
			}
		}
	}
}

func short(v verdict) string {
	if v.decision != refuse {
		return string(v.decision)
	}
	if v.again {
		return string(fault.CodeOf(v.refusal)) + "?"
	}
	return string(fault.CodeOf(v.refusal))
}

// Where no cluster holds the definition, the machines decide.
func TestVerdictsOnMachines(t *testing.T) {
	running, stopped, paused := provider.Machine{Name: "demo-abc"}, provider.Machine{Name: "demo-abc", Stopped: true}, provider.Machine{Name: "demo-lb", Paused: true}
	failed := errors.New("503 from keystone")
	cases := map[string]struct {
		b      bootstrapState
		m      managementState
		with   func(*observation)
		want   string
		says   string // in the message
		advise string // in the hint
	}{
		"machines, and nobody who holds their definition":   {bootstrapAbsent, managementAbsent, machines(running), "cluster/unreachable", "machines of demo exist in Docker (demo-abc)", "put its kubeconfig at /state/kubeconfig"},
		"machines, and an unfinished bootstrap cluster":     {bootstrapUnfinished, managementAbsent, machines(running), "cluster/unreachable", "demo-abc", "cluster-init cleanup env"},
		"machines, and an empty bootstrap cluster":          {bootstrapEmpty, managementAbsent, machines(running), "cluster/unreachable", "demo-abc", "cleanup"},
		"machines, and a management cluster that is silent": {bootstrapAbsent, managementSilent, machines(running), "cluster/unreachable?", "machines of it exist (demo-abc): i/o timeout", "restore the network"},
		"its load balancer is paused":                       {bootstrapMoved, managementSilent, machines(paused), "cluster/unreachable?", "does not answer", "docker unpause demo-lb"},
		"a machine is stopped":                              {bootstrapActive, managementSilent, machines(running, stopped), "start", "", ""},
		"a stopped machine of a finished cluster":           {bootstrapAbsent, managementSilent, machines(stopped), "start", "", ""},
		"the cloud does not say":                            {bootstrapAbsent, managementAbsent, unasked(failed), "cluster/unreachable?", "it is not known whether machines of demo exist: 503", "when it can be asked"},
		"the cloud does not say, in its own words":          {bootstrapEmpty, managementAbsent, unasked(fault.New(fault.CloudUnreachable, "no answer", "Look at it.")), "cloud/unreachable?", "no answer", "Look at it."},
		"the cloud does not say, and it does not matter":    {bootstrapActive, managementAbsent, unasked(failed), "go on", "", ""},
		"nobody can be asked":                               {bootstrapAbsent, managementAbsent, unasked(provider.ErrCannotAsk), "fresh", "", ""},
		"nobody can be asked, and a kubeconfig is there":    {bootstrapAbsent, managementSilent, unasked(provider.ErrCannotAsk), "cluster/unreachable?", "nobody else can be asked", "/state/kubeconfig"},
		"somebody else's machines":                          {bootstrapAbsent, managementAbsent, unasked(fault.New(fault.ClusterForeign, "a node of another cluster", "")), "cluster/foreign", "a node of another cluster", ""},
		"a silent kubeconfig that nobody proves":            {bootstrapAbsent, managementSilent, func(o *observation) { o.management.proven = false }, "cluster/unreachable?", "whose kubeconfig that is cannot be known", "rm /state/kubeconfig"},
		"a bootstrap cluster that is paused": {bootstrapSilent, managementAbsent, func(o *observation) {
			o.bootstrap.err, o.bootstrap.cure = errors.New("it is paused"), "Unpause it: docker unpause x."
		}, "cluster/unreachable?", "what it holds is not known: it is paused", "docker unpause x"},
		"one that is paused after the pivot": {bootstrapSilent, managementActive, func(o *observation) {
			o.bootstrap.err, o.bootstrap.cure = errors.New("it is paused"), "Unpause it: docker unpause x."
		}, "cluster/unreachable?", "what it holds is not known: it is paused", "docker unpause x"},
		"one that is broken after the pivot": {bootstrapSilent, managementActive, func(*observation) {}, "cluster/unreachable?", "no route to host", "if the bootstrap cluster held nothing else"},
		"a bootstrap cluster that another run is making": {bootstrapSilent, managementAbsent, func(o *observation) {
			o.bootstrap.err, o.bootstrap.cure = fault.New(fault.Busy, "another run makes it", ""), "When it has ended."
		}, "cluster/busy?", "another run makes it", "When it has ended."},
		"a bootstrap cluster that nobody can read": {bootstrapSilent, managementAbsent, func(o *observation) {
			o.bootstrap.err = fault.New(fault.Usage, "no kubeconfig", "Name a file.")
		}, "usage", "no kubeconfig", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := seen(tc.b, tc.m)
			tc.with(&o)
			v := judge(o, thisRun)
			if got := short(v); got != tc.want || !strings.Contains(fmt.Sprint(v.refusal), tc.says) || !strings.Contains(fault.HintOf(v.refusal), tc.advise) {
				t.Errorf("%s, want %s: %v\nhint: %s", got, tc.want, v.refusal, fault.HintOf(v.refusal))
			}
			if cannot := errors.Is(o.machinesErr, provider.ErrCannotAsk) && v.decision == fresh; cannot && v.warning == "" {
				t.Errorf("the warning is %q", v.warning)
			}
		})
	}
}

func machines(all ...provider.Machine) func(*observation) {
	return func(o *observation) { o.machines = all }
}

func unasked(err error) func(*observation) {
	return func(o *observation) { o.machinesErr = err }
}

// Every refusal tells a person what to do, and never to run what would lose the definition.
func TestRefusalsSayWhatHelps(t *testing.T) {
	for _, b := range []bootstrapState{bootstrapAbsent, bootstrapUnfinished, bootstrapSilent, bootstrapEmpty, bootstrapMoved, bootstrapActive, bootstrapPaused} {
		for _, m := range []managementState{managementAbsent, managementSilent, managementEmpty, managementActive, managementPaused} {
			v := judge(seen(b, m), thisRun)
			if v.decision != refuse {
				if v.why == "" {
					t.Errorf("%s, %s: nothing says why to %s", b, m, v.decision)
				}
				continue
			}
			hint := fault.HintOf(v.refusal)
			deletable := b == bootstrapSilent && m == managementActive
			if hint == "" || strings.Contains(hint, "docker rm") && !deletable || strings.Contains(hint, "kind delete") || strings.Contains(hint, "--yes") {
				t.Errorf("%s, %s: %v\nhint: %s", b, m, v.refusal, hint)
			}
		}
	}
}

// Flux is the first that a pivot suspends and a user's pause suspends nothing: what a user paused stays so.
func TestWhatAUserPausedIsNotResumed(t *testing.T) {
	for _, m := range []managementState{managementEmpty, managementPaused} {
		for _, b := range []bootstrapState{bootstrapActive, bootstrapPaused} {
			o := seen(b, m)
			o.bootstrap.suspended = false
			want := "pivot/failed"
			if b == bootstrapActive && m == managementEmpty { // the pivot is ahead
				want = "go on"
			}
			if v := judge(o, thisRun); short(v) != want {
				t.Errorf("bootstrap cluster %s, management cluster %s: %s", b, m, short(v))
			}
			o.bootstrap.suspended = true
			if v := judge(o, thisRun); v.decision != finish {
				t.Errorf("bootstrap cluster %s, management cluster %s, and Flux is suspended: %s", b, m, short(v))
			}
		}
	}
}

func TestAClusterThatIsPausedWithoutABootstrapClusterIsResumedByAPerson(t *testing.T) {
	v := judge(seen(bootstrapAbsent, managementPaused), thisRun)
	if hint := fault.HintOf(v.refusal); !strings.Contains(hint, `patch clusters.cluster.x-k8s.io demo --type merge -p '{"spec":{"paused":null}`) {
		t.Errorf("hint: %s", hint)
	}
}

func TestOthersKeepTheBootstrapCluster(t *testing.T) {
	cluster := func(namespace, name string, paused bool) capi.Cluster {
		return capi.Cluster{Object: capi.Object{Kind: "Cluster", Namespace: namespace, Name: name}, Paused: paused}
	}
	got := othersThan(thisRun.scope(), []capi.Cluster{cluster("ns", "demo", true), cluster("ns", "tenant", true), cluster("other", "demo", true), cluster("ns", "demo", false)})
	if want := []string{"Cluster ns/tenant", "Cluster other/demo", "Cluster ns/demo"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A move that did not take everything: what is left goes with the bootstrap cluster, unless a person looks.
func TestWhatAMoveLeftIsNamed(t *testing.T) {
	left := capi.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "demo-load-balancer"}
	for m, want := range map[managementState]string{managementActive: "ConfigMap ns/demo-load-balancer", managementPaused: "is paused in the management cluster"} {
		o := seen(bootstrapMoved, m)
		o.bootstrap.holds.Objects = []capi.Object{left}
		v := judge(o, thisRun)
		if short(v) != "pivot/failed" || !strings.Contains(v.refusal.Error(), want) || strings.Contains(fault.HintOf(v.refusal), `"paused":true`) {
			t.Errorf("%s: %s: %v\nhint: %s", m, short(v), v.refusal, fault.HintOf(v.refusal))
		}
	}
}
