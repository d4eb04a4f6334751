//go:build integration

package environment_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// helm is the helm CLI in the version that Flux's helm-controller has, built from the module in testdata/helm.
type helm struct {
	t          *testing.T
	ctx        context.Context
	binary     string
	kubeconfig string // of the cluster that it works on; empty: none
	home       string
}

func newHelm(ctx context.Context, t *testing.T) *helm {
	t.Helper()
	home := t.TempDir()
	h := &helm{t: t, ctx: ctx, binary: filepath.Join(home, "helm"), home: home}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", h.binary, "helm.sh/helm/v4/cmd/helm")
	build.Dir = filepath.Join("testdata", "helm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Makefile builds: then it shares the build cache
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build helm: %v\n%s", err, out)
	}
	return h
}

// run runs helm and returns what it prints on stdout. A failure ends the test with what helm says.
func (h *helm) run(args ...string) string {
	h.t.Helper()
	args = append(args, "--namespace", "flux-system")
	if h.kubeconfig != "" {
		args = append(args, "--kubeconfig", h.kubeconfig)
	}
	command := exec.CommandContext(h.ctx, h.binary, args...)
	command.Env = append(os.Environ(), "HOME="+h.home, "HELM_CACHE_HOME="+h.home, "HELM_CONFIG_HOME="+h.home,
		"HELM_DATA_HOME="+h.home)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		h.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
