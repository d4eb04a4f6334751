//go:build e2e

package e2e

import (
	"maps"
	"regexp"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/event"
)

// downInstants are moments of `down`: the n-th event of a phase that says so; "" is any.
var downInstants = []struct {
	phase string
	what  event.Type
	says  string
	nth   int
}{
	{"bootstrap-cluster", event.Progress, "^creating the kind cluster", 1},
	{"bootstrap-flux", event.PhaseStarted, "", 1},
	{"providers", event.ObjectChanged, "", 8},
	{"workload-clusters", event.PhaseFinished, "", 1},
	{"move-back", event.Log, "^wrote a backup", 1},
	{"move-back", event.Log, "^Creating [A-Z][A-Za-z]+=", 8},
	{"move-back", event.Log, "^Deleting [A-Z][A-Za-z]+=", 4},
	{"delete", event.PhaseStarted, "", 1},
	{"delete", event.Progress, "^deleting Cluster", 1},
	{"cleanup", event.PhaseStarted, "", 1},
}

// TestPivotDown takes a management cluster down that is killed with SIGKILL at ten instants: each run resumes where the
// last one was killed. Once it is marked, `up` refuses to build on it.
func TestPivotDown(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	if code, _ := l.run(t, "down", l.name, "--bundle", l.bundle); code != 71 {
		t.Errorf("down without --yes ended with %d, want 71", code)
	}
	down := []string{"down", l.name, "--bundle", l.bundle, "--yes"}
	for _, at := range downInstants {
		pattern, seen := regexp.MustCompile(at.says), 0
		killed, code := l.killAt(t, func(e event.Event) bool {
			if e.Phase == at.phase && e.Type == at.what && pattern.MatchString(e.Message) {
				seen++
			}
			return seen == at.nth
		}, down...)
		if !killed {
			t.Fatalf("down ended with %d before %s %q was said %d times", code, at.phase, at.says, at.nth)
		}
		if at.phase == "delete" && at.what == event.PhaseStarted {
			if code, _ := l.run(t, up...); code != 33 {
				t.Errorf("up of a cluster that is torn down ended with %d, want 33", code)
			}
		}
	}
	if code, _ := l.run(t, down...); code != 0 {
		t.Fatalf("the last run ended with %d", code)
	}
	l.nothingLeft(t)
	if code, _ := l.run(t, down...); code != 0 {
		t.Errorf("down of what is gone ended with %d", code)
	}
}

// TestPivotDownOpenStack takes down what was built on servers of a real OpenStack, whose controllers delete servers,
// load balancer and networks.
func TestPivotDownOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	args := append([]string{l.name, "--bundle", l.bundle}, from...)
	if code, _ := l.run(t, append([]string{"up"}, args...)...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	if code, _ := l.run(t, append([]string{"down", "--yes"}, args...)...); code != 0 {
		t.Fatalf("down ended with %d", code)
	}
	l.nothingLeft(t)
	if after := project.inventory(t); !maps.Equal(after, before) {
		t.Errorf("the project has %v, had %v", after, before)
	}
}
