//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// TestMatrixInstall makes an existing cluster a management cluster. The run is killed and run again, and once more it
// changes nothing. The cluster makes a workload cluster, whose node is ready.
func TestMatrixInstall(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	existing := existingCluster(t, l)
	t.Cleanup(func() { // before the network is removed: the registry is in it
		l.run(t, "cleanup", l.name, "--yes", "--force", l.name)
	})
	by := []string{"--kubeconfig", existing}
	install := append([]string{"install", environmentName, "--bundle", l.bundle}, by...)
	if killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Type == event.PhaseStarted && e.Phase == "release"
	}, install...); !killed {
		t.Fatalf("it was not killed, and ended with %d", code)
	}
	if code, _ := l.run(t, install...); code != 0 {
		t.Fatalf("install ended with %d", code)
	}
	management := connect(t, existing)
	before := management.generations(t)
	if code, _ := l.run(t, install...); code != 0 {
		t.Fatalf("install again ended with %d", code)
	}
	for object, generation := range management.generations(t) {
		if before[object] != generation {
			t.Errorf("%s: generation %s, was %s", object, generation, before[object])
		}
	}
	l.installed(t, by)
	in := append([]string{"--in", l.name}, by...)
	own := workloadName + "/" + workloadName
	apply := append([]string{"workload", "apply", environmentName, "--name", workloadName, "--namespace", workloadName,
		"--bundle", l.bundle}, in...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	printed, err := l.command(t.Context(), append([]string{"kubeconfig", l.name, "--workload", own}, by...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "workload")
	if err := os.WriteFile(file, printed, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := connect(t, file).readyNodes(t.Context()); n != 1 {
		t.Errorf("%d nodes are ready, want 1", n)
	}
	for _, command := range []string{"status", "diagnose"} {
		if code, out := l.run(t, append([]string{"workload", command, own}, in...)...); code != 0 {
			t.Errorf("workload %s ended with %d: %s", command, code, out)
		}
	}
	if code, _ := l.run(t, append([]string{"workload", "delete", own, "--yes"}, in...)...); code != 0 {
		t.Fatalf("workload delete ended with %d", code)
	}
	if left := containers(t, "io.x-k8s.kind.cluster="+workloadName); len(left) > 0 {
		t.Errorf("containers left: %v", left)
	}
	if code, out := l.run(t, append([]string{"workload", "list"}, in...)...); code != 0 ||
		strings.Contains(out, workloadName) {
		t.Errorf("workload list ended with %d: %s", code, out)
	}
}

// installed sees that the commands for a management cluster know one that has no Cluster of its own.
func (l lab) installed(t *testing.T, by []string) {
	t.Helper()
	for command, want := range map[string]string{"status": "the existing cluster is a management cluster",
		"diagnose": "", "diff": ""} {
		args := append([]string{command, l.name}, by...)
		if command != "diagnose" {
			args = append(args, "--bundle", l.bundle)
		}
		if command == "diff" {
			args = append(args, "--exit-code")
		}
		if code, out := l.run(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s ended with %d: %s", command, code, out)
		}
	}
	if code, out := l.run(t, append([]string{"down", l.name, "--yes", "--bundle", l.bundle}, by...)...); code != 30 {
		t.Errorf("down of an installed cluster ended with %d: %s", code, out)
	}
}
