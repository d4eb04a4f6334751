package up

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// seen returns an observation as the real one would be: what each side holds follows from its state.
func seen(b clusters.BootstrapState, m clusters.ManagementState, machines ...provider.Machine) clusters.Observation {
	own := func(paused bool) clusters.Holding {
		object := capi.Object{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "ns", Name: "demo"}
		c := capi.Cluster{Object: object, Paused: paused}
		if paused {
			c.Annotations = map[string]string{"cluster-init.io/pivot": "ns/demo"} // by a move: see byHand
		}
		return clusters.Holding{Objects: []capi.Object{object}, Clusters: []capi.Cluster{c}}
	}
	o := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: b}, Management: clusters.ManagementSide{State: m,
		Named: "/state/kubeconfig", Proven: true}, Machines: machines}
	connected := &kube.Cluster{Config: &rest.Config{Host: "https://192.0.2.1:6443"}}
	switch b {
	case clusters.BootstrapForeign:
		o.Bootstrap.Err = fault.New(fault.ClusterForeign, "not ours", "")
	case clusters.BootstrapSilent:
		o.Bootstrap.Err = errors.New("no route to host")
	case clusters.BootstrapEmpty, clusters.BootstrapMoved:
		o.Bootstrap.Cluster, o.Bootstrap.Suspended = connected, b == clusters.BootstrapMoved
	case clusters.BootstrapActive, clusters.BootstrapPaused:
		o.Bootstrap.Cluster, o.Bootstrap.Holds, o.Bootstrap.Suspended = connected, own(b == clusters.BootstrapPaused),
			b == clusters.BootstrapPaused
	}
	switch m {
	case clusters.ManagementForeign:
		o.Management.Err = fault.New(fault.ClusterForeign, "another cluster", "")
	case clusters.ManagementSilent:
		o.Management.Err, o.Management.Files = errors.New("i/o timeout"), []string{"/state/kubeconfig"}
	case clusters.ManagementEmpty:
		o.Management.Cluster = connected
	case clusters.ManagementActive, clusters.ManagementPaused:
		o.Management.Cluster, o.Management.Holds = connected, own(m == clusters.ManagementPaused)
	}
	return o
}

var thisRun = request{environment: "env", cluster: "demo", namespace: "ns", place: "Docker",
	bootstrapContainer: "demo-bootstrap-control-plane", kubeconfig: "/state/kubeconfig", backups: "/state"}

// The table of verdicts without machines: a row for each state of the bootstrap cluster, a column for each of the
// management cluster. A refusal is the fault of its exit code; ? means that it is retried for a while.
func TestVerdicts(t *testing.T) {
	columns := []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
		clusters.ManagementForeign,
		clusters.ManagementEmpty, clusters.ManagementActive, clusters.ManagementPaused}
	const (
		foreign = "cluster/foreign"
		silent  = "cluster/unreachable?"
		nowhere = "cluster/unreachable"
		stuck   = "pivot/failed"
	)
	table := map[clusters.BootstrapState][]string{
		clusters.BootstrapAbsent:     {"fresh", silent, foreign, stuck, "pivoted", stuck},
		clusters.BootstrapUnfinished: {"fresh", silent, foreign, stuck, "pivoted", stuck},
		clusters.BootstrapEmpty:      {"go on", silent, foreign, stuck, "pivoted", stuck},
		clusters.BootstrapForeign:    {foreign, foreign, foreign, foreign, foreign, foreign},
		clusters.BootstrapStopped:    {"start", "start", "start", "start", "start", "start"},
		clusters.BootstrapSilent:     {silent, silent, silent, silent, silent, silent},
		clusters.BootstrapMoved:      {nowhere, silent, foreign, stuck, "pivoted", "finish"},
		clusters.BootstrapActive:     {"go on", "go on", foreign, "go on", stuck, stuck},
		clusters.BootstrapPaused:     {stuck, silent, foreign, "finish", "pivoted", "finish"},
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
	if v.retryable {
		return string(fault.CodeOf(v.refusal)) + "?"
	}
	return string(fault.CodeOf(v.refusal))
}

// If no cluster holds the definition, the machines decide.
func TestVerdictsOnMachines(t *testing.T) {
	running, stopped, paused := provider.Machine{Name: "demo-abc"}, provider.Machine{Name: "demo-abc", Stopped: true},
		provider.Machine{Name: "demo-lb", Paused: true}
	failed := errors.New("503 from keystone")
	cases := map[string]struct {
		b      clusters.BootstrapState
		m      clusters.ManagementState
		with   func(*clusters.Observation)
		want   string
		says   string // in the message
		advise string // in the hint
	}{
		"machines, and nobody who holds their definition": {clusters.BootstrapAbsent, clusters.ManagementAbsent,
			machines(running), "cluster/unreachable", "machines of demo exist in Docker (demo-abc)",
			"put its kubeconfig at /state/kubeconfig"},
		"machines, and an unfinished bootstrap cluster": {clusters.BootstrapUnfinished, clusters.ManagementAbsent,
			machines(running), "cluster/unreachable", "demo-abc", "cluster-init cleanup env"},
		"machines, and an empty bootstrap cluster": {clusters.BootstrapEmpty, clusters.ManagementAbsent,
			machines(running), "cluster/unreachable", "demo-abc", "cleanup"},
		"machines, and a management cluster that is silent": {clusters.BootstrapAbsent, clusters.ManagementSilent,
			machines(running), "cluster/unreachable?", "machines of it exist (demo-abc): i/o timeout",
			"restore the network"},
		"its load balancer is paused": {clusters.BootstrapMoved, clusters.ManagementSilent,
			machines(paused), "cluster/unreachable?", "does not answer", "docker unpause demo-lb"},
		"a machine is stopped": {clusters.BootstrapActive, clusters.ManagementSilent,
			machines(running, stopped), "start", "", ""},
		"a stopped machine of a finished cluster": {clusters.BootstrapAbsent, clusters.ManagementSilent,
			machines(stopped), "start", "", ""},
		"the cloud does not say": {clusters.BootstrapAbsent, clusters.ManagementAbsent,
			notChecked(failed), "cluster/unreachable?", "it is not known whether machines of demo exist: 503",
			"when the cloud or the Docker engine answers"},
		"the cloud does not say, in its own words": {clusters.BootstrapEmpty, clusters.ManagementAbsent,
			notChecked(fault.New(fault.CloudUnreachable, "no answer", "Look at it.")), "cloud/unreachable?",
			"no answer",
			"Look at it."},
		"the cloud does not say, and it does not matter": {clusters.BootstrapActive, clusters.ManagementAbsent,
			notChecked(failed), "go on", "", ""},
		"nobody can be asked": {clusters.BootstrapAbsent, clusters.ManagementAbsent,
			notChecked(provider.ErrNotSupported), "cluster/unreachable", "it is not known whether demo exists already",
			"--new demo"},
		"nobody can be asked, while it is being built": {clusters.BootstrapEmpty, clusters.ManagementAbsent,
			notChecked(provider.ErrNotSupported), "go on", "", ""},
		"nobody can be asked, as it was never finished": {clusters.BootstrapUnfinished, clusters.ManagementAbsent,
			notChecked(provider.ErrNotSupported), "fresh", "", ""},
		"nobody can be asked, and a kubeconfig is there": {clusters.BootstrapAbsent, clusters.ManagementSilent,
			notChecked(provider.ErrNotSupported), "cluster/unreachable?", "nothing else shows",
			"/state/kubeconfig"},
		"somebody else's machines": {clusters.BootstrapAbsent, clusters.ManagementAbsent,
			notChecked(fault.New(fault.ClusterForeign, "a node of another cluster", "")), "cluster/foreign",
			"a node of another cluster", ""},
		"a silent kubeconfig that nobody proves": {clusters.BootstrapAbsent, clusters.ManagementSilent,
			func(o *clusters.Observation) { o.Management.Proven = false }, "cluster/unreachable?",
			"nothing proves which cluster that kubeconfig belongs to", "rm '/state/kubeconfig'"},
		"the same while the first machine is being made": {clusters.BootstrapActive, clusters.ManagementSilent,
			func(o *clusters.Observation) { o.Management.Proven = false }, "cluster/unreachable?",
			"nothing proves which cluster that kubeconfig belongs to", "give --kubeconfig another file"},
		"a kubeconfig that cannot be read": {clusters.BootstrapAbsent, clusters.ManagementSilent,
			func(o *clusters.Observation) { o.Management.Proven, o.Management.Files = false, nil },
			"cluster/unreachable?",
			"which cluster that kubeconfig belongs to", "Make its kubeconfig readable."},
		"it cannot be asked, and the bootstrap cluster still names the one that is silent": {clusters.BootstrapEmpty,
			clusters.ManagementSilent, func(o *clusters.Observation) {
				o.MachinesErr, o.Bootstrap.Kubeconfig = provider.ErrNotSupported, []byte("x")
			}, "cluster/unreachable?", "nothing else shows",
			"rm '/state/kubeconfig' && kubectl -n ns delete secret demo-kubeconfig."},
		"a bootstrap cluster that is paused": {clusters.BootstrapSilent, clusters.ManagementAbsent,
			func(o *clusters.Observation) {
				o.Bootstrap.Err, o.Bootstrap.Remedy = errors.New("it is paused"), "Unpause it: docker unpause x."
			}, "cluster/unreachable?", "its content is not known: it is paused", "docker unpause x"},
		"one that is paused after the pivot": {clusters.BootstrapSilent, clusters.ManagementActive,
			func(o *clusters.Observation) {
				o.Bootstrap.Err, o.Bootstrap.Remedy = errors.New("it is paused"), "Unpause it: docker unpause x."
			}, "cluster/unreachable?", "its content is not known: it is paused", "docker unpause x"},
		"one that is broken after the pivot": {clusters.BootstrapSilent, clusters.ManagementActive,
			func(*clusters.Observation) {}, "cluster/unreachable?", "no route to host",
			"if the bootstrap cluster held nothing else"},
		"a bootstrap cluster that another run is making": {clusters.BootstrapSilent, clusters.ManagementAbsent,
			func(o *clusters.Observation) {
				o.Bootstrap.Err, o.Bootstrap.Remedy = fault.New(fault.Busy, "another run makes it", ""),
					"When it has ended."
			}, "cluster/busy?", "another run makes it", "When it has ended."},
		"a bootstrap cluster that nobody can read": {clusters.BootstrapSilent, clusters.ManagementAbsent,
			func(o *clusters.Observation) {
				o.Bootstrap.Err = fault.New(fault.Usage, "no kubeconfig", "Name a file.")
			}, "usage", "no kubeconfig", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := seen(tc.b, tc.m)
			tc.with(&o)
			v := judge(o, thisRun)
			if got := short(v); got != tc.want || !strings.Contains(fmt.Sprint(v.refusal), tc.says) ||
				!strings.Contains(fault.HintOf(v.refusal), tc.advise) {
				t.Errorf("%s, want %s: %v\nhint: %s", got, tc.want, v.refusal, fault.HintOf(v.refusal))
			}
			if cannot := errors.Is(o.MachinesErr, provider.ErrNotSupported) && v.decision == fresh; cannot &&
				v.warning == "" {
				t.Errorf("the warning is %q", v.warning)
			}
		})
	}
}

// If the provider cannot list machines, only the user knows that a cluster is new. A CI job that has lost its state
// folder would build a second one. A bootstrap cluster that the user provides proves nothing.
func TestACloudThatCannotBeAskedNeedsAWord(t *testing.T) {
	for name, tc := range map[string]struct {
		b            clusters.BootstrapState
		m            clusters.ManagementState
		confirmedNew bool
		node         string
		want         string
	}{
		"nothing is known": {clusters.BootstrapAbsent, clusters.ManagementAbsent, false, thisRun.bootstrapContainer,
			"cluster/unreachable"},
		"it is new": {clusters.BootstrapAbsent, clusters.ManagementAbsent, true, thisRun.bootstrapContainer,
			"fresh"},
		"a bootstrap cluster of the user's": {clusters.BootstrapEmpty, clusters.ManagementAbsent, false, "",
			"cluster/unreachable"},
		"the same, and it is new": {clusters.BootstrapEmpty, clusters.ManagementAbsent, true, "", "go on"},
		"it is new, and a kubeconfig names it": {clusters.BootstrapAbsent, clusters.ManagementSilent, true,
			thisRun.bootstrapContainer,
			"cluster/unreachable?"},
	} {
		r := thisRun
		r.confirmedNew, r.bootstrapContainer, r.listCommand = tc.confirmedNew, tc.node, "aws list"
		o := seen(tc.b, tc.m)
		o.MachinesErr = provider.ErrNotSupported
		v := judge(o, r)
		if got := short(v); got != tc.want || got == "cluster/unreachable" && !strings.Contains(fault.HintOf(v.refusal),
			"aws list") {
			t.Errorf("%s: %s, want %s: %v\nhint: %s", name, got, tc.want, v.refusal, fault.HintOf(v.refusal))
		}
	}
}

func machines(all ...provider.Machine) func(*clusters.Observation) {
	return func(o *clusters.Observation) { o.Machines = all }
}

func notChecked(err error) func(*clusters.Observation) {
	return func(o *clusters.Observation) { o.MachinesErr = err }
}

// Every refusal has a hint for a person, and no hint would lose the definition.
func TestRefusalsSayWhatHelps(t *testing.T) {
	for _, b := range []clusters.BootstrapState{clusters.BootstrapAbsent, clusters.BootstrapUnfinished,
		clusters.BootstrapSilent,
		clusters.BootstrapEmpty, clusters.BootstrapMoved, clusters.BootstrapActive, clusters.BootstrapPaused} {
		for _, m := range []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
			clusters.ManagementEmpty,
			clusters.ManagementActive, clusters.ManagementPaused} {
			v := judge(seen(b, m), thisRun)
			if v.decision != refuse {
				if v.reason == "" {
					t.Errorf("%s, %s: nothing says why to %s", b, m, v.decision)
				}
				continue
			}
			hint := fault.HintOf(v.refusal)
			deletable := b == clusters.BootstrapSilent && m == clusters.ManagementActive
			if hint == "" || strings.Contains(hint, "docker rm") && !deletable ||
				strings.Contains(hint, "kind delete") || strings.Contains(hint, "--yes") {
				t.Errorf("%s, %s: %v\nhint: %s", b, m, v.refusal, hint)
			}
		}
	}
}

// A pivot suspends Flux first, and a user's pause suspends nothing: what a user paused stays paused.
func TestWhatAUserPausedIsNotResumed(t *testing.T) {
	for _, m := range []clusters.ManagementState{clusters.ManagementEmpty, clusters.ManagementPaused} {
		for _, b := range []clusters.BootstrapState{clusters.BootstrapActive, clusters.BootstrapPaused} {
			o := seen(b, m)
			o.Bootstrap.Suspended = false
			want := "pivot/failed"
			if b == clusters.BootstrapActive && m == clusters.ManagementEmpty { // the pivot is still to come
				want = "go on"
			}
			if v := judge(o, thisRun); short(v) != want {
				t.Errorf("bootstrap cluster %s, management cluster %s: %s", b, m, short(v))
			}
			o.Bootstrap.Suspended = true
			want = "finish"
			if b == clusters.BootstrapActive && m == clusters.ManagementEmpty {
				want = "begun"
			}
			if v := judge(o, thisRun); short(v) != want {
				t.Errorf("bootstrap cluster %s, management cluster %s, and Flux is suspended: %s, want %s", b, m,
					short(v), want)
			}
		}
	}
}

// A move pauses with a mark. A person has paused what is paused without it, whether a pivot was begun or not. Nothing
// of it is resumed or moved, and no text mentions a move.
func TestWhatAPersonPausedDuringTheBuild(t *testing.T) {
	for _, m := range []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
		clusters.ManagementEmpty} {
		for _, begun := range []bool{false, true} {
			o := seen(clusters.BootstrapPaused, m)
			o.Bootstrap.Suspended, o.Bootstrap.Holds.Clusters[0].Annotations = begun, nil
			v := judge(o, thisRun)
			if short(v) != "pivot/refused" ||
				!strings.Contains(v.refusal.Error(), "is paused in the bootstrap cluster: a person paused it") ||
				!strings.Contains(fault.HintOf(v.refusal), `"paused":null`) {
				t.Errorf("management cluster %s, a pivot begun %t: %s, %v\nhint: %s", m, begun, short(v), v.refusal,
					fault.HintOf(v.refusal))
			}
		}
	}
	o := seen(clusters.BootstrapMoved, clusters.ManagementPaused)
	o.Management.Holds.Clusters[0].Annotations = nil
	if v := judge(o, thisRun); short(v) != "pivot/failed" ||
		!strings.Contains(v.refusal.Error(), "is paused in the management cluster") {
		t.Errorf("after the pivot: %s, %v", short(v), v.refusal)
	}
}

// Flux is suspended first. Until the target has some of the objects, the cause of an earlier failure to pivot can still
// be fixed.
func TestAPivotThatMovedNothingIsOnlyBegun(t *testing.T) {
	class := capi.Object{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "ClusterClass", Namespace: "ns", Name: "class"}
	other := capi.Object{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "of-a-tenant"}
	for name, tc := range map[string]struct {
		there []capi.Object
		want  decision
	}{
		"the management cluster holds nothing":            {nil, begun},
		"it holds what is others'":                        {[]capi.Object{other}, begun},
		"it holds what a move creates before the Cluster": {[]capi.Object{class, other}, finish},
	} {
		o := seen(clusters.BootstrapActive, clusters.ManagementEmpty)
		o.Bootstrap.Suspended = true
		o.Bootstrap.Holds.Objects = append(o.Bootstrap.Holds.Objects, class)
		o.Management.Holds.Objects = tc.there
		if v := judge(o, thisRun); v.decision != tc.want {
			t.Errorf("%s: %s, want %s", name, short(v), tc.want)
		}
	}
}

func TestAClusterThatIsPausedWithoutABootstrapClusterIsResumedByAPerson(t *testing.T) {
	v := judge(seen(clusters.BootstrapAbsent, clusters.ManagementPaused), thisRun)
	if hint := fault.HintOf(v.refusal); !strings.Contains(
		hint, `patch clusters.cluster.x-k8s.io demo --type merge -p '{"spec":{"paused":null}`) ||
		!strings.Contains(hint, `"cluster.x-k8s.io/paused":null`) { // it may be paused by the annotation
		t.Errorf("hint: %s", hint)
	}
}

func TestOthersKeepTheBootstrapCluster(t *testing.T) {
	cluster := func(namespace, name string, paused bool) capi.Cluster {
		return capi.Cluster{Object: capi.Object{Kind: "Cluster", Namespace: namespace, Name: name}, Paused: paused}
	}
	got := othersThan(thisRun.scope(), []capi.Cluster{cluster("ns", "demo", true), cluster("ns", "tenant", true),
		cluster("other", "demo", true), cluster("ns", "demo", false)})
	if want := []string{"Cluster ns/tenant", "Cluster other/demo", "Cluster ns/demo"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A move left objects behind: they would be deleted with the bootstrap cluster, so a person has to decide.
func TestWhatAMoveLeftIsNamed(t *testing.T) {
	left := capi.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "demo-load-balancer"}
	for m, want := range map[clusters.ManagementState]string{clusters.ManagementActive: "ConfigMap ns/demo-load-balancer",
		clusters.ManagementPaused: "is paused in the management cluster"} {
		o := seen(clusters.BootstrapMoved, m)
		o.Bootstrap.Holds.Objects = []capi.Object{left}
		v := judge(o, thisRun)
		if short(v) != "pivot/failed" || !strings.Contains(v.refusal.Error(), want) ||
			strings.Contains(fault.HintOf(v.refusal), `"paused":true`) {
			t.Errorf("%s: %s: %v\nhint: %s", m, short(v), v.refusal, fault.HintOf(v.refusal))
		}
	}
}

// A bootstrap cluster that the user provides stays, with the objects of others. It has no node whose container could be
// inspected.
func TestABootstrapClusterOfTheUsersOwn(t *testing.T) {
	own := thisRun
	own.bootstrapContainer = ""
	left := seen(clusters.BootstrapMoved, clusters.ManagementActive)
	left.Bootstrap.Holds.Objects = []capi.Object{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns",
		Name: "of-a-tenant"}}
	if v := judge(left, own); v.decision != pivoted || !strings.Contains(v.warning, "ConfigMap ns/of-a-tenant") {
		t.Errorf("what a move left: %s, %v\nwarning: %s", short(v), v.refusal, v.warning)
	}
	silent := seen(clusters.BootstrapSilent, clusters.ManagementAbsent)
	silent.Bootstrap.Err = fault.New(fault.ClusterUnreachable, "no route to host",
		"Give another --bootstrap-kubeconfig.")
	if v := judge(silent, own); short(v) != "cluster/unreachable?" ||
		fault.HintOf(v.refusal) != "Give another --bootstrap-kubeconfig." {
		t.Errorf("it is silent: %s, %v\nhint: %s", short(v), v.refusal, fault.HintOf(v.refusal))
	}
}

// `up` does not build on what a `down` has begun to delete, wherever that is.
func TestWhatGoesDownIsNotBuiltOn(t *testing.T) {
	r := request{environment: "env", cluster: "demo", namespace: "ns", source: clusters.Side{Kubeconfig: "/b"},
		target: clusters.Side{Kubeconfig: "/m"}}
	inManagement := seen(clusters.BootstrapAbsent, clusters.ManagementActive)
	inManagement.Management.TeardownRequested = true
	inBootstrap := seen(clusters.BootstrapActive, clusters.ManagementSilent)
	inBootstrap.Bootstrap.TeardownRequested = true
	deleting := seen(clusters.BootstrapActive, clusters.ManagementSilent)
	deleting.Bootstrap.TeardownRequested = true
	deleting.Bootstrap.Holds.Clusters[0].Deleting = true
	gone := seen(clusters.BootstrapEmpty, clusters.ManagementSilent)
	gone.Bootstrap.TeardownRequested = true
	for name, tc := range map[string]struct {
		o    clusters.Observation
		keep string // the command that keeps it; empty: it cannot be kept
	}{
		"in the management cluster": {inManagement, "--kubeconfig '/m' -n ns annotate clusters.cluster.x-k8s.io demo " +
			"cluster-init.io/down-"},
		"in the bootstrap cluster": {inBootstrap, "--kubeconfig '/b' -n ns annotate clusters.cluster.x-k8s.io demo " +
			"cluster-init.io/down-"},
		"it is being deleted": {deleting, ""},
		"it is gone":          {gone, ""},
	} {
		v := judge(tc.o, r)
		hint := fault.HintOf(v.refusal)
		if v.decision != refuse || fault.CodeOf(v.refusal) != fault.Busy ||
			!strings.Contains(hint, "cluster-init down env") ||
			strings.Contains(hint, "annotate") != (tc.keep != "") || !strings.Contains(hint, tc.keep) {
			t.Errorf("%s: %s, %v, %s", name, v.decision, v.refusal, hint)
		}
	}
}

// A person has paused the Cluster in the bootstrap cluster. The hint to resume it appears only while the management
// cluster does not hold it, too.
func TestVerdictsOnAPersonsPause(t *testing.T) {
	for m, advised := range map[clusters.ManagementState]bool{
		clusters.ManagementAbsent: true, clusters.ManagementSilent: true, clusters.ManagementEmpty: true,
		clusters.ManagementActive: false, clusters.ManagementPaused: false,
	} {
		o := seen(clusters.BootstrapPaused, m)
		o.Bootstrap.Suspended, o.Bootstrap.Holds.Clusters[0].Annotations = false, nil
		v := judge(o, thisRun)
		if got := v.decision == refuse &&
			strings.Contains(v.refusal.Error(), "a person paused it, not a move"); got != advised {
			t.Errorf("management cluster %s: %s, %v", m, v.decision, v.refusal)
		}
	}
}

// Only a management cluster that holds its own definition counts by itself, if it cannot be checked whether a bootstrap
// cluster exists.
func TestByItself(t *testing.T) {
	for name, tc := range map[string]struct {
		bootstrap        clusters.BootstrapState
		notChecked, down bool
		management       clusters.ManagementState
		want             bool
	}{
		"nobody can be asked": {clusters.BootstrapSilent, true, false, clusters.ManagementActive,
			true},
		"the bootstrap cluster is silent": {clusters.BootstrapSilent, false, false, clusters.ManagementActive,
			false},
		"the bootstrap cluster is there": {clusters.BootstrapActive, true, false, clusters.ManagementActive,
			false},
		"the management cluster is paused": {clusters.BootstrapSilent, true, false, clusters.ManagementPaused,
			false},
		"the management cluster is taken down": {clusters.BootstrapSilent, true, true, clusters.ManagementActive,
			false},
	} {
		o := Outlook{Observation: seen(tc.bootstrap, tc.management)}
		o.Bootstrap.NotChecked, o.Management.TeardownRequested = tc.notChecked, tc.down
		if got := o.SelfManagedBootstrapNotChecked(); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The values of an environment are compared with the cluster that holds the definition, also if one of its machines is
// gone.
func TestTheHolderOfTheDefinition(t *testing.T) {
	bootstrap, management := &kube.Cluster{Name: "bootstrap"}, &kube.Cluster{Name: "management"}
	for name, tc := range map[string]struct {
		bootstrap  clusters.BootstrapState
		management clusters.ManagementState
		stage      Stage
		want       *kube.Cluster
	}{
		"before the pivot":    {clusters.BootstrapActive, clusters.ManagementEmpty, BeforePivot, bootstrap},
		"it manages itself":   {clusters.BootstrapAbsent, clusters.ManagementActive, SelfManaged, management},
		"a machine is gone":   {clusters.BootstrapAbsent, clusters.ManagementActive, Stopped, management},
		"both hold it":        {clusters.BootstrapActive, clusters.ManagementActive, Refused, bootstrap},
		"it is only half way": {clusters.BootstrapPaused, clusters.ManagementPaused, HalfMoved, bootstrap},
	} {
		o := Outlook{Observation: seen(tc.bootstrap, tc.management), Stage: tc.stage}
		o.Bootstrap.Cluster, o.Management.Cluster = bootstrap, management
		if got := o.Holder(); got != tc.want {
			t.Errorf("%s: the %s cluster", name, got.Name)
		}
	}
}

// `up` has nothing to build from in an existing cluster that `install` made a management cluster.
func TestAnInstalledClusterIsRefused(t *testing.T) {
	o := seen(clusters.BootstrapAbsent, clusters.ManagementEmpty)
	o.Management.Installed = true
	v := judge(o, thisRun)
	if v.decision != refuse || fault.CodeOf(v.refusal) != fault.ClusterForeign ||
		!strings.Contains(fault.HintOf(v.refusal), "cluster-init install env") {
		t.Errorf("%s: %v", v.decision, v.refusal)
	}
	if (Outlook{Observation: o, Stage: Refused}).Holder() != o.Management.Cluster {
		t.Error("it does not hold its own values")
	}
}
