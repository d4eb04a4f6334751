//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// interruptedWithKind kills a run while kind makes the bootstrap cluster, and presses Ctrl-C in the next one.
func (l lab) interruptedWithKind(t *testing.T, up []string) {
	kindSays := func(words string) func(event.Event) bool {
		return func(e event.Event) bool { return e.Type == event.Log && strings.Contains(e.Message, words) }
	}
	starting := kindSays("Starting control-plane")
	t.Run("another user's run while kind makes the bootstrap cluster", func(t *testing.T) {
		asked := false
		e := l.signalAt(t, os.Kill, func(e event.Event) bool {
			if !asked && starting(e) {
				asked = true
				l.anotherUsers(t, up, "may be making it")
			}
			return asked
		}, up...)
		if !e.sent {
			t.Fatalf("the run ended with %d: %+v", e.exitCode, e.failure)
		}
	})
	t.Run("kill -9 while kind makes the bootstrap cluster, whose API server answers already", func(t *testing.T) {
		now := kindSays("Installing CNI")
		e := l.signalAt(t, os.Kill, func(e event.Event) bool {
			if now(e) {
				l.turnedAway(t, up)
			}
			return now(e)
		}, up...)
		if !e.sent {
			t.Fatalf("the run ended with %d before it could be killed: %+v", e.exitCode, e.failure)
		}
		eventually(t, "the API server answers", 2*time.Minute, func(ctx context.Context) bool {
			return exec.CommandContext(ctx, "docker", "exec", bootstrapNode, "kubectl",
				"--kubeconfig=/etc/kubernetes/admin.conf", "get", "--raw=/readyz").Run() == nil
		})
	})
	t.Run("Ctrl-C while kind recreates the bootstrap cluster", func(t *testing.T) {
		unfinished := false
		e := l.signalAt(t, os.Interrupt, func(e event.Event) bool {
			unfinished = unfinished || e.Type == event.Warning && strings.Contains(e.Message, "was never finished")
			return starting(e)
		}, up...)
		if !unfinished {
			t.Error("it did not see that kind was killed before the cluster was finished")
		}
		interruptedWell(t, e, 20*time.Second)
		if left := containers(t, "io.x-k8s.kind.cluster="+environmentName+"-bootstrap"); len(left) > 0 {
			t.Errorf("a half-made bootstrap cluster is left: %v", left)
		}
	})
}

// turnedAway has two others come while a run is at work: neither gets as far as to look what there is.
func (l lab) turnedAway(t *testing.T, up []string) {
	t.Helper()
	for _, args := range [][]string{up, {"cleanup", l.name, "--yes", "--force", l.name}} {
		if code, _ := l.run(t, args...); code != 33 {
			t.Errorf("%v during another run ended with %d, want 33", args, code)
		}
	}
}

// anotherUsers is turned away at a moment when only what is in Docker, or in the cluster, can tell: its state folder is
// its own.
func (l lab) anotherUsers(t *testing.T, up []string, message string) {
	t.Helper()
	other := l
	other.state = t.TempDir()
	other.environment = append(slices.Clone(l.environment), "XDG_STATE_HOME="+other.state)
	// it asks again for a sixtieth of that
	e := other.signalAt(t, os.Interrupt, never, append(slices.Clone(up), "--timeout", "60s")...)
	if e.exitCode != 33 || !strings.Contains(e.failure.Message, message) {
		t.Errorf("another user's run ended with %d, want 33 and %q: %+v", e.exitCode, message, e.failure)
	}
}

// stuckAndMended has a component never become ready, and presses Ctrl-C once the next run has mended that.
func (l lab) stuckAndMended(t *testing.T, up []string) {
	t.Run("a component that never becomes ready", func(t *testing.T) {
		e := l.signalAt(t, os.Interrupt, never,
			append(up, "--timeout", "25s", "--set", "components.cert-manager.spec.sourceRef.name=nowhere")...)
		if e.exitCode != 50 {
			t.Fatalf("exit code %d, want 50: %+v", e.exitCode, e.failure)
		}
		for _, want := range []string{"management-cluster:", "Kustomization/cert-manager", "nowhere",
			"not finished within 25s"} {
			if !strings.Contains(e.failure.Message, want) {
				t.Errorf("%q does not say %q", e.failure.Message, want)
			}
		}
		first := strings.Index(e.failure.Message, "Kustomization/cert-manager")
		if other := strings.Index(e.failure.Message, "Kustomization/capi"); other >= 0 && other < first {
			t.Errorf("the one to look at is not named first: %s", e.failure.Message)
		}
		if e.failure.Hint == "" || !e.failure.Retry {
			t.Errorf("hint %q, retry %v", e.failure.Hint, e.failure.Retry)
		}
	})
	t.Run("Ctrl-C while components are waited for, of which the stuck one is mended", func(t *testing.T) {
		e := l.signalAt(t, os.Interrupt, func(e event.Event) bool {
			ready := e.Type == event.ObjectChanged && e.Object.Kind == "Kustomization" &&
				e.Object.Name == "cert-manager" && e.Object.State == "Ready"
			if ready {
				l.anotherUsers(t, up, "holds the lock on the bootstrap cluster, since")
			}
			return ready
		}, up...)
		interruptedWell(t, e, 5*time.Second)
		if left := containers(t, "io.x-k8s.kind.cluster="+environmentName+"-bootstrap"); len(left) != 1 {
			t.Errorf("nodes of the bootstrap cluster after Ctrl-C: %v, want the one", left)
		}
	})
}

// interruptedWell holds how a run ended against what the first Ctrl-C promises.
func interruptedWell(t *testing.T, e ended, bound time.Duration) {
	t.Helper()
	if !e.sent {
		t.Fatalf("the run ended with %d before it could be interrupted: %+v", e.exitCode, e.failure)
	}
	if e.exitCode != 130 || e.failure.Code != "interrupted" || !e.failure.Retry ||
		!strings.Contains(e.failure.Hint, "run the same command again") {
		t.Errorf("exit code %d, %+v", e.exitCode, e.failure)
	}
	if e.after > bound {
		t.Errorf("it took %s to end, at most %s are allowed", e.after, bound)
	}
	if strings.Contains(e.stderr, "goroutine ") || !strings.Contains(e.stderr, "press Ctrl-C again to exit at once") {
		t.Errorf("stderr: %s", e.stderr)
	}
}
