package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/health"
)

const controllerLog = `I1126 02:30:00.000000       1 openstackserver_controller.go:100] "Reconciling Server" controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-1"
E1126 02:30:01.000000       1 controller.go:474] "Reconciler error" err="no flavors were found: name=m1.\"nope\"" controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-1" namespace="management" name="c-workers-1"
E1126 02:30:02.000000       1 controller.go:474] "Reconciler error" err=<
	create OpenStack instance: got 413 instead: {"message": "too large.
	
	"}
 > controller="openstackserver" controllerKind="OpenStackServer" OpenStackServer="management/c-workers-2" namespace="management" name="c-workers-2"
E1126 02:30:03.000000       1 controller.go:474] "Reconciler error" err="list of machines of c failed" controller="openstackmachine" controllerKind="OpenStackMachine" OpenStackMachine="other/c-workers-1" Cluster="management/c"
E1126 02:30:04.000000       1 scope.go:1] "cannot log in" err="got 401 instead" cluster="management/c"`

func TestComplaints(t *testing.T) {
	ref := func(kind, name string) health.Ref { return health.Ref{Kind: kind, Namespace: "management", Name: name} }
	all := complaints(strings.Split(controllerLog, "\n"))
	for about, want := range map[health.Ref][]string{
		ref("OpenStackServer", "c-workers-1"):  {`no flavors were found: name=m1."nope"`},
		ref("OpenStackServer", "c-workers-2"):  {"create OpenStack instance: got 413 instead: {\"message\": \"too large.\n\n\"}"},
		ref("OpenStackMachine", "c-workers-1"): nil, // the one that has an error is of another namespace
		ref("OpenStackCluster", "c"):           {"got 401 instead"},
		ref("OpenStackCluster", "c-workers"):   nil,
		ref("OpenStackCluster", ""):            nil,
	} {
		var got []string
		for _, each := range all {
			if each.about(about) {
				got = append(got, each.text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %s: %q, want %q", about, got, want)
		}
	}
}

// An entry that is cut off, or written by another library, is its own text.
func TestComplaintsOfOtherForms(t *testing.T) {
	for _, line := range []string{`E1126 02:30:01.0 1 a.go:1] "Reconciler error" err="cut off`, "\tfailed in the middle of an entry", `{"level":"error","msg":"no"}`, `time=now level=error msg="x"`} {
		if got := complaints([]string{line}); len(got) != 1 || got[0].text != line {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func FuzzComplaints(f *testing.F) {
	f.Add(controllerLog, "c-workers-1")
	f.Fuzz(func(t *testing.T, log, name string) {
		for _, each := range complaints(strings.Split(log, "\n")) {
			if each.about(health.Ref{Kind: "OpenStackServer", Name: name}) && !strings.Contains(each.entry, name) {
				t.Errorf("%q is not about %q", each.entry, name)
			}
		}
	})
}
