//go:build e2e

// Package e2e runs the built binary against real parts: kind, Flux, Cluster API, the pivot, all on the lab.
package e2e

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
)

const environmentName = "kubeadm-capd"

// TestUp is the whole of a user's way: up, look, use, up again, cleanup; with all that can come in between, as the run
// is interrupted, stuck, and killed at the end of its phases: each time the next run resumes. CLUSTER_INIT_TEST_ALL=1
// kills it at the end of every phase, which takes several minutes more.
func TestUp(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle, "--set", "cluster.bootstrap_formats={ignition}"}
	seen := newBoundaries(os.Getenv("CLUSTER_INIT_TEST_ALL") != "")
	l.killedUntil(t, seen, "registry", up...)
	l.interruptedWithKind(t, up)
	l.killedUntil(t, seen, "bootstrap-flux", up...)
	l.stuckAndMended(t, up)
	l.killedUntil(t, seen, "", up...)
	for want, killed := range seen {
		if !killed {
			t.Errorf("was never killed at %s", want)
		}
	}
	management := l.management(t)
	l.built(t, management)
	t.Run("its status is up where only its kubeconfig is", func(t *testing.T) { l.statusElsewhere(t) })
	t.Run("a check finds it, and no problem", func(t *testing.T) {
		if code, out := l.run(t, "check", l.name, "--bundle", l.bundle); code != 0 ||
			!strings.Contains(out, "the management cluster holds its own definition") {
			t.Errorf("check ended with %d: %s", code, out)
		}
	})
	t.Run("what up applied is rendered", func(t *testing.T) {
		code, out := l.run(t, "render", l.name, "--bundle", l.bundle, "-o", "json")
		if code != 0 || !strings.Contains(out, `"kind":"KubeadmControlPlane"`) {
			t.Errorf("render ended with %d: %.300s", code, out)
		}
	})
	t.Run("what is there is what up would apply", func(t *testing.T) { l.diff(t) })
	t.Run("no image comes from outside of the bundle", func(t *testing.T) {
		l.needBundle(t)
		nothingFromOutside(t, controlPlane(t, l.name))
	})
	t.Run("a workload cluster can be made and deleted", func(t *testing.T) { l.workload(t, management) })
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	t.Run("cleanup shows and deletes", func(t *testing.T) { cleanup(t, l) })
}

// built looks at what `up` has left.
func (l lab) built(t *testing.T, management cluster) {
	t.Run("kubeconfig is its owner's only", func(t *testing.T) {
		info, err := os.Stat(l.kubeconfig(l.name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v, want mode 0600", info, err)
		}
	})
	t.Run("the management cluster manages itself", func(t *testing.T) { management.managesItself(t) })
	t.Run("its status is up", func(t *testing.T) {
		soonWithout(t, func(t *testing.T) []string {
			if code, out := l.run(t, "status", l.name); code != 0 {
				return []string{out}
			}
			return nil
		})
	})
	t.Run("its kubeconfig is printed and merged", func(t *testing.T) { l.printsKubeconfig(t) })
	t.Run("the bootstrap cluster is gone", func(t *testing.T) {
		if left := containers(t, "io.x-k8s.kind.cluster="+l.name+"-bootstrap"); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// statusElsewhere asks for the status as on a machine without a Docker engine, which has no more than the kubeconfig
// and the bundle.
func (l lab) statusElsewhere(t *testing.T) {
	elsewhere := l
	elsewhere.environment = append(slices.Clone(l.environment), "PATH="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	c := elsewhere.command(t.Context(), "status", l.name, "--kubeconfig", l.kubeconfig(l.name), "--bundle", l.bundle)
	out, err := c.CombinedOutput()
	for _, said := range []string{": up\n", "not checked: whether a bootstrap cluster is left"} {
		if err != nil || !strings.Contains(string(out), said) {
			t.Fatalf("%v, want %q\n%s", err, said, out)
		}
	}
	if strings.Contains(string(out), "other values") || strings.Contains(string(out), "incomplete") {
		t.Errorf("of values that are the same it says\n%s", out)
	}
}

// printsKubeconfig asks for the kubeconfig of the management cluster, and uses what is printed, and what is merged.
func (l lab) printsKubeconfig(t *testing.T) {
	t.Helper()
	printed, err := l.command(t.Context(), "kubeconfig", l.name).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "printed")
	if err := os.WriteFile(file, printed, 0o600); err != nil {
		t.Fatal(err)
	}
	connect(t, file)
	merged := filepath.Join(t.TempDir(), "merged")
	l.environment = append(slices.Clone(l.environment), "KUBECONFIG="+merged)
	if out, err := l.command(t.Context(), "kubeconfig", l.name, "--merge").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), l.name) {
		t.Fatalf("%v: %s", err, out)
	}
	connect(t, merged)
}

// idle runs `up` once more, which changes nothing.
func (l lab) idle(t *testing.T, management cluster, up []string) {
	before := management.generations(t)
	report := filepath.Join(t.TempDir(), "junit.xml")
	if code, _ := l.run(t, append(slices.Clone(up), "--junit", report)...); code != 0 {
		t.Fatalf("up again ended with %d", code)
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `failures="0"`) ||
		!strings.Contains(string(text), `name="look for an earlier run"`) {
		t.Errorf("%v: the JUnit report is %s", err, text)
	}
	after := management.generations(t)
	for object, generation := range before {
		if after[object] != generation {
			t.Errorf("%s: generation %s, was %s", object, after[object], generation)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d objects, were %d", len(after), len(before))
	}
}

// boundaries are the ends of phases, and the middle of the longest one, at which a run is to be killed, and whether one
// was.
type boundaries map[string]bool

// newBoundaries returns all boundaries, or the half of them that differ most in what a run has left.
func newBoundaries(all bool) boundaries {
	b := boundaries{"registry": false, "bootstrap-flux": false, "middle of management-cluster": false,
		"management-release": false, "pivot": false, "self-management": false}
	if all {
		maps.Copy(b, boundaries{"bootstrap-cluster": false, "management-cluster": false, "management-flux": false,
			"management-available": false, "definition": false, "bootstrap-removal": false})
	}
	return b
}

// next reports whether an event is a boundary at which no run was killed yet.
func (seen boundaries) next(e event.Event) (at string, is bool) {
	switch {
	case e.Type == event.PhaseFinished:
		at = e.Phase
	case e.Type == event.ObjectChanged && e.Object.Kind == "Machine" && e.Object.Cluster == "bootstrap":
		at = "middle of " + e.Phase
	}
	killed, wanted := seen[at]
	return at, wanted && !killed
}

// killedUntil kills a run with SIGKILL at the next boundary, and the run after it, until one was killed at the end of
// the phase last. Empty means until one comes to its own, good end.
func (l lab) killedUntil(t *testing.T, seen boundaries, last string, up ...string) {
	t.Helper()
	for range 30 { // more than there are boundaries
		at := ""
		killed, code := l.killAt(t, func(e event.Event) (is bool) {
			at, is = seen.next(e)
			return is
		}, up...)
		if killed {
			t.Logf("kill -9 at %s", at)
			seen[at] = true
		}
		if killed && slices.Contains([]string{"middle of management-cluster", "management-release"}, at) {
			rebooted(t, l.name)
		}
		switch {
		case killed && at == last, !killed && code == 0 && last == "":
			return
		case !killed:
			t.Fatalf("up ended with %d before it was killed at the end of %q", code, last)
		}
	}
	t.Fatalf("30 runs were killed, none at the end of %q", last)
}

// cleanup deletes the environment and proves that nothing is left of it.
func cleanup(t *testing.T, l lab) {
	t.Helper()
	code, plan := l.run(t, "cleanup", l.name)
	if code != 71 || !strings.Contains(plan, l.name+"-lb") || !strings.Contains(plan, l.name+"-registry") {
		t.Fatalf("cleanup without --yes: exit code %d, plan:\n%s", code, plan)
	}
	if left := containers(t, "io.x-k8s.kind.cluster="+l.name); len(left) == 0 {
		t.Fatal("cleanup without --yes deleted machines")
	}
	if code, _ := l.run(t, "cleanup", l.name, "--yes"); code != 72 {
		t.Errorf("cleanup of a cluster that manages itself ended with %d", code)
	}
	if code, _ := l.run(t, "cleanup", l.name, "--yes", "--force", l.name); code != 0 {
		t.Fatalf("cleanup --yes --force ended with %d", code)
	}
	l.nothingLeft(t)
	if _, err := os.Stat(l.kubeconfig(l.name)); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
	if code, out := l.run(t, "cleanup", l.name, "--yes", "--force", l.name); code != 0 ||
		!strings.Contains(out, "nothing found") {
		t.Errorf("cleanup again: exit code %d, %s", code, out)
	}
}

// cleanBefore removes what an earlier, failed test run left, and after this test too.
func cleanBefore(t *testing.T, l lab) {
	t.Helper()
	cleanup := []string{"cleanup", l.name, "--yes", "--force", l.name}
	if code, _ := l.run(t, cleanup...); code != 0 {
		t.Fatalf("cleaning up before the test ended with %d", code)
	}
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("CLUSTER_INIT_KEEP") != "" {
			return // to look at it by hand
		}
		out, err := l.command(context.WithoutCancel(t.Context()), cleanup...).CombinedOutput()
		if err != nil {
			t.Errorf("cleaning up after the test: %v: %s", err, out)
		}
	})
}

// controlPlane is the container of a control-plane machine.
func controlPlane(t *testing.T, cluster string) string {
	t.Helper()
	machines := strings.Fields(docker(t, "ps", "--format", "{{.Names}}", "--filter", "label=io.x-k8s.kind.cluster="+
		cluster,
		"--filter", "label=io.x-k8s.kind.role=control-plane"))
	if len(machines) == 0 {
		t.Fatalf("no control-plane machine of %s runs", cluster)
	}
	return machines[0]
}

func containers(t *testing.T, label string) []string {
	t.Helper()
	return strings.Fields(docker(t, "ps", "-a", "--format", "{{.Names}}", "--filter", "label="+label))
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).Output()
	if err != nil {
		t.Fatalf("docker %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
