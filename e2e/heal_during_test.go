//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// TestMatrixHealDuring stops a worker in the middle of a pivot, of another `up`, and of `down`: each run ends well.
// What runs on in the cluster has replaced the worker by then.
func TestMatrixHealDuring(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.worker.replicas=2", "--set", healSet}
	stopped := l.stopsWorkerAt(t, l.name, "pivot", "^Creating [A-Z][A-Za-z]+=", up...)
	management := l.management(t)
	management.managesItself(t)
	if now := running(t, l.name, "worker"); len(now) != 2 || slices.Contains(now, stopped) {
		t.Errorf("the workers %v run, and %s was stopped in the middle of the pivot", now, stopped)
	}

	another := append(slices.Clone(up), "--set", "cluster.health_checks.workers.max_unhealthy=1")
	stopped = l.stopsWorkerAt(t, l.name, "management-release", "", another...)
	eventually(t, "the worker that was stopped during up is replaced", 10*time.Minute, management.replaced(l.name,
		stopped, 3))
	management.managesItself(t)

	l.stopsWorkerAt(t, l.name, "move-back", "^wrote a backup", "down", l.name, "--bundle", l.bundle, "--yes")
	l.nothingLeft(t)
}

// TestMatrixHealRestored stops a worker of a workload cluster in the middle of a restore into another management
// cluster, which then replaces it.
func TestMatrixHealRestored(t *testing.T) {
	const rescue = "rescue"
	l := newLab(t)
	cleanBefore(t, l)
	elsewhere := []string{"--set", "cluster.name=" + rescue}
	t.Cleanup(func() {
		for _, name := range []string{workloadName, rescue} {
			l.run(t, "cleanup", l.name, "--yes", "--force", name, "--set", "cluster.name="+name)
		}
	})
	for _, args := range [][]string{
		{"up", l.name, "--bundle", l.bundle},
		append([]string{"up", l.name, "--bundle", l.bundle}, elsewhere...),
		append([]string{"workload", "apply"}, l.workloadDefinition("--set", "cluster.worker.replicas=1", "--set",
			healSet)...),
	} {
		if code, _ := l.run(t, args...); code != 0 {
			t.Fatalf("%v ended with %d", args, code)
		}
	}
	dir := t.TempDir()
	if code, _ := l.run(t, "backup", l.name, "--output-dir", dir); code != 0 {
		t.Fatalf("backup ended with %d", code)
	}
	backups, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("%v, %v", backups, err)
	}
	l.management(t).loseDefinition(t)
	stopped := l.stopsWorkerAt(t, workloadName, "", "^Restoring [A-Z][A-Za-z]+=", "restore", backups[0], "--kubeconfig",
		l.kubeconfig(rescue))
	saved := connect(t, l.kubeconfig(rescue))
	eventually(t, "the worker that was stopped during the restore is replaced", 10*time.Minute,
		saved.replaced(workloadName, stopped, 2))
}

// stopsWorkerAt stops a worker of a cluster when a run that must end well says so for the first time, and returns the
// worker. An empty phase is any, and an empty text is the beginning of the phase.
func (l lab) stopsWorkerAt(t *testing.T, cluster, phase, says string, args ...string) (worker string) {
	t.Helper()
	pattern := regexp.MustCompile(says)
	e := l.signalAt(t, os.Interrupt, func(e event.Event) bool {
		begins := says != "" || e.Type == event.PhaseStarted
		if worker == "" && (phase == "" || e.Phase == phase) && begins && pattern.MatchString(e.Message) {
			worker = workerOf(t, cluster)
			docker(t, "stop", "--time", "1", worker)
			t.Logf("stopped %s", worker)
		}
		return false
	}, args...)
	if e.exitCode != 0 || worker == "" {
		t.Fatalf("%v ended with %d after worker %q was stopped: %+v", args, e.exitCode, worker, e.failure)
	}
	return worker
}
