//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// TestPivotDownWorkload makes two workload clusters at once in one namespace, and takes them down with their management
// cluster. `down` is killed while it deletes the first one.
func TestPivotDownWorkload(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	names := []string{"shop", "till"}
	var runs []*backgroundRun
	for _, name := range names {
		runs = append(runs, l.start(t, name, "workload", "apply", environmentName, "--in", l.name, "--name", name,
			"--namespace", workloadName, "--bundle", l.bundle))
	}
	for _, run := range runs {
		if <-run.over; run.exitCode != 0 {
			t.Fatalf("%s ended with %d: %+v", run.name, run.exitCode, run.failure)
		}
	}
	if code, out := l.run(t, "status", l.name); code != 0 || !strings.Contains(out, "workload clusters: 2 of 2 Ready") {
		t.Errorf("status ended with %d: %s", code, out)
	}
	down := []string{"down", l.name, "--bundle", l.bundle, "--yes"}
	if code, _ := l.run(t, down...); code != 72 {
		t.Errorf("down of a cluster that manages others ended with %d, want 72", code)
	}
	down = append(down, "--with-workload-clusters")
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Phase == "workload-clusters" && strings.Contains(e.Message, "Cluster workload/shop is gone")
	}, down...); !killed {
		t.Fatalf("down was not killed, and ended with %d", code)
	}
	if code, _ := l.run(t, down...); code != 0 {
		t.Fatalf("down ended with %d", code)
	}
	l.nothingLeft(t)
	for _, name := range names {
		if left := containers(t, "io.x-k8s.kind.cluster="+name); len(left) > 0 {
			t.Errorf("containers of %s are left: %v", name, left)
		}
	}
}
