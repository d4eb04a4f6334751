//go:build e2e

package e2e

import (
	"regexp"
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// instants are moments inside the pivot: the n-th line of a run that says so.
var instants = []struct {
	says string
	nth  int
}{
	{"^wrote a backup", 1},
	{"^Moving Cluster API objects", 1},
	{"^Creating objects in the target", 1},
	{"^Creating [A-Z][A-Za-z]+=", 2},
	{"^Creating [A-Z][A-Za-z]+=", 8},
	{"^Creating [A-Z][A-Za-z]+=", 14},
	// from here on the source is not complete any more
	{"^Deleting objects from the source|^Deleting [A-Z][A-Za-z]+=", 6},
	{"^an earlier move was interrupted", 1},
	{"^the target has all of it", 1},
}

// TestPivotKilled kills `up` with SIGKILL at moments inside the pivot of one cluster, one after the other: each run
// resumes where the last one was killed, and finishes what that began unless it is killed too. No machine and no node
// is ever made a second time.
func TestPivotKilled(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	made := first{}
	var nodes map[string]string
	for _, at := range instants {
		pattern, seen := regexp.MustCompile(at.says), 0
		killed, code := l.killAt(t, func(e event.Event) bool {
			if e.Phase == "pivot" && e.Type == event.Log && pattern.MatchString(e.Message) {
				seen++
			}
			return seen == at.nth
		}, up...)
		if !killed {
			t.Fatalf("up ended with %d before %q was said %d times", code, at.says, at.nth)
		}
		made.unchanged(t, l.name)
		now := connect(t, l.kubeconfig(l.name)).nodes(t)
		if nodes == nil {
			nodes = now
		}
		sameNodes(t, nodes, now)
	}
	over := []event.Type{event.PhaseFinished, event.PhaseSkipped} // the one before may have verified it
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return slices.Contains(over, e.Type) &&
			e.Phase == "pivot"
	}, up...); !killed {
		t.Fatalf("up ended with %d before the pivot was over", code)
	}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("the last run ended with %d", code)
	}
	management := l.management(t)
	l.built(t, management)
	made.unchanged(t, l.name)
	sameNodes(t, nodes, management.nodes(t))
}

// nodes returns the UIDs of the cluster's nodes by their names.
func (c cluster) nodes(t *testing.T) map[string]string {
	t.Helper()
	uids := map[string]string{}
	for _, node := range c.list(t, "", "v1", "Node") {
		uids[node.GetName()] = string(node.GetUID())
	}
	return uids
}

func sameNodes(t *testing.T, before, now map[string]string) {
	t.Helper()
	for name, uid := range before {
		if now[name] != uid {
			t.Errorf("node %s has the UID %s, was %s", name, now[name], uid)
		}
	}
	if len(before) != len(now) {
		t.Errorf("there are %d nodes, were %d", len(now), len(before))
	}
}
