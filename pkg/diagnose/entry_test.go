package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

const controllerLog = `I1126 02:30:00.000000       1 openstackserver_controller.go:100] "Reconciling Server" controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-1"
E1126 02:30:01.000000       1 controller.go:474] "Reconciler error" err="no flavors were found: name=m1.\"nope\"" controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-1" namespace="management" name="c-workers-1"
E1126 02:30:02.000000       1 controller.go:474] "Reconciler error" err=<
	create OpenStack instance: got 413 instead: {"message": "too large.
	
	"}
 > controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-2" namespace="management" name="c-workers-2"
E1126 02:30:03.000000       1 controller.go:474] "Reconciler error" err="list of machines of c failed" controller="openstackmachine" controllerKind="OpenStackMachine" OpenStackMachine="other/c-workers-1" Cluster="management/c"
E1126 02:30:04.000000       1 scope.go:1] "cannot log in" err="got 401 instead" cluster="management/c"`

func TestEntries(t *testing.T) {
	ref := func(kind, name string) health.Ref { return health.Ref{Kind: kind, Namespace: "management", Name: name} }
	all := entries(strings.Split(controllerLog, "\n"))
	for about, want := range map[health.Ref][]string{
		ref("OpenStackServer", "c-workers-1"): {`no flavors were found: name=m1."nope"`},
		ref("OpenStackServer", "c-workers-2"): {"create OpenStack instance: got 413 instead: {\"message\": \"too " +
			"large.\n\n\"}"},
		ref("OpenStackMachine", "c-workers-1"): nil, // the one that has an error is of another namespace
		ref("OpenStackCluster", "c"):           {"got 401 instead"},
		ref("OpenStackCluster", "c-workers"):   nil,
		ref("OpenStackCluster", ""):            nil,
	} {
		var got []string
		for _, each := range all {
			if each.isError() && each.about(about) {
				got = append(got, each.err())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %s: %q, want %q", about, got, want)
		}
	}
}

// An entry that is truncated, or written by another library, is its own text.
func TestEntriesOfOtherForms(t *testing.T) {
	for _, line := range []string{`E1126 02:30:01.0 1 a.go:1] "Reconciler error" err="truncated`,
		"\tfailed in the middle of an entry", `{"level":"error","msg":"no"}`, `time=now level=error msg="x"`} {
		if got := entries([]string{line}); len(got) != 1 || !got[0].isError() || got[0].err() != line {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestContainsWord(t *testing.T) {
	for text, want := range map[string]bool{
		"no address of machine c-cp-1.":   true,
		"c-cp-1. It is gone":              true,
		"of management/c-cp-1 and others": true,
		"no address of c-cp-1.example":    false,
		"no address of c-cp-12.":          false,
		"no address of c-cp-1.-x":         false,
	} {
		if got := containsWord(text, "c-cp-1"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(controllerLog, "c-workers-1")
	f.Fuzz(func(t *testing.T, log, name string) {
		for _, each := range entries(strings.Split(log, "\n")) {
			_ = each.err()
			if each.about(health.Ref{Kind: "OpenStackServer", Name: name}) && !strings.Contains(string(each), name) {
				t.Errorf("%q is not about %q", each, name)
			}
		}
	})
}

func TestEntryAt(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 10, 0, 0, time.UTC)
	for line, want := range map[string]time.Time{
		`E0101 00:09:01.123456       1 a.go:1] "x"`: time.Date(2027, 1, 1, 0, 9, 1, 0, time.UTC),
		`E1231 23:59:01.123456       1 a.go:1] "x"`: time.Date(2026, 12, 31, 23, 59, 1, 0, time.UTC),
		`E9999 00:09:01.123456       1 a.go:1] "x"`: {},
		`{"level":"error"}`:                         {},
	} {
		if got := entry(line).at(now); !got.Equal(want) {
			t.Errorf("%q: %s", line, got)
		}
	}
}

// A complaint is past when its controller went on to something else with the object.
func TestComplaintsThatAreOver(t *testing.T) {
	s := NewSnapshot(readiness.Observation{Cluster: "bootstrap", Objects: machineOf(t, "c-workers-1")})
	const then = `I1126 02:31:00.000000       1 openstackserver_controller.go:100] "Waiting for instance" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-1"`
	s.aboutMachines(strings.Split(controllerLog, "\n"))
	s.aboutMachines(strings.Split(strings.Replace(controllerLog, "m1.", "m2.", 1)+"\n"+then, "\n"))
	said := s.machineSignals[health.Ref{Group: "infrastructure.cluster.x-k8s.io", Kind: "OpenStackServer",
		Namespace: "management", Name: "c-workers-1"}]
	if len(said) != 2 || said[0].Past || !said[1].Past || said[0].At.IsZero() {
		t.Errorf("%+v", said)
	}
}
