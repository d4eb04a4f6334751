//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// TestMatrixThree takes three control-plane machines and a worker through the pivot, with each bootstrap provider. What
// takes a machine away is refused afterwards, until it is named.
func TestMatrixThree(t *testing.T) {
	for _, name := range []string{environmentName, rke2Name} {
		t.Run(name, func(t *testing.T) {
			l := newLabFor(t, name)
			cleanBefore(t, l)
			up := []string{"up", name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3"}
			if code, _ := l.run(t, append(up, "--set", "cluster.worker.replicas=1")...); code != 0 {
				t.Fatalf("up ended with %d", code)
			}
			l.management(t).managesItself(t)
			before := boots(t, name)
			if len(before) != 4 {
				t.Fatalf("%d machines, want 4", len(before))
			}
			if name != environmentName {
				return
			}
			if code, _ := l.run(t, up...); code != 34 {
				t.Errorf("up without the worker ended with %d, want 34", code)
			}
			if now := boots(t, name); len(now) != 4 {
				t.Errorf("%d machines after what was refused, want 4", len(now))
			}
			if code, _ := l.run(t, append(up, "--allow-changes", "cluster.worker.replicas")...); code != 0 {
				t.Errorf("up without the worker, as is meant, ended with %d", code)
			}
			now := boots(t, name)
			if len(now) != 3 {
				t.Errorf("%d machines without the worker, want 3", len(now))
			}
			for machine, boot := range now {
				if before[machine] != boot {
					t.Errorf("%s is now %+v, was %+v", machine, boot, before[machine])
				}
			}
			l.management(t).managesItself(t)
		})
	}
}

// TestMatrixEmbedded has a finished cluster follow the content of another build: Flux reads it from the registry of
// the clusters, whose container was restarted meanwhile.
func TestMatrixEmbedded(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management, before := l.management(t), boots(t, environmentName)
	docker(t, "restart", environmentName+"-registry")
	other := l
	other.binary = otherContent(t)
	published := ""
	e := other.signalAt(t, os.Interrupt, func(e event.Event) bool {
		if e.Type == event.Progress && e.Phase == "registry" {
			published = e.Message
		}
		return false
	}, up...)
	if e.exitCode != 0 {
		t.Fatalf("up of the other build ended with %d: %+v (%s)", e.exitCode, e.failure, published)
	}
	if management.get(t.Context(), "v1", "ConfigMap", "of-the-other-build") == nil {
		t.Error("what the other build's content holds is not in the management cluster")
	}
	management.managesItself(t)
	for machine, boot := range boots(t, environmentName) {
		if before[machine] != boot {
			t.Errorf("%s is now %+v, was %+v", machine, boot, before[machine])
		}
	}
}

// otherContent builds cluster-init from a copy of its source with one more object in the component cluster.
func otherContent(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	script := `git -C "$0" ls-files -z --cached --others --exclude-standard | (cd "$0" && xargs -0 cp --parents -t "$1") &&
cd "$1/kustomize-components/cert-manager" && printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-the-other-build, namespace: flux-system}\n' >other.yaml &&
sed -i 's/^resources:/resources:\n  - other.yaml/' kustomization.yaml && grep -q other.yaml kustomization.yaml && cd "$1" && go build -o cluster-init-other ./cmd/cluster-init`
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "sh", "-c", script, root, folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	build.WaitDelay = time.Second
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build another cluster-init: %v: %s", err, out)
	}
	return filepath.Join(folder, "cluster-init-other")
}
