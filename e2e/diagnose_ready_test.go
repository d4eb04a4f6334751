//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
)

// readyFault is one of testdata/faults-ready: something that keeps a finished cluster from acting, while all that it
// holds says that it is ready.
type readyFault struct {
	// Rules are the findings of which one must say what is wrong.
	Rules []string `json:"rules"`
	// Status is the exit code of status.
	Status int `json:"status"`
	// Break and Mend are commands of a shell, with `kubectl` of the management cluster and `node` for its machine.
	Break string `json:"break"`
	Mend  string `json:"mend"`
}

// TestMatrixDiagnoseReady breaks one thing after the other in a finished cluster. Each must be named by diagnose, and
// status must end as it should; before and after each nothing may be found.
func TestMatrixDiagnoseReady(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	look := []string{"diagnose", l.name, "-o", "json"}
	if code, report := l.diagnose(t, look...); code != 0 {
		t.Errorf("right after up: %d, %+v %+v", code, report.Findings, report.Waiting)
	}
	files, err := filepath.Glob("testdata/faults-ready/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { l.namesReadyFault(t, look, file) })
	}
	l.isWell(t, look)
}

func (l lab) namesReadyFault(t *testing.T, look []string, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f readyFault
	if err := yaml.UnmarshalStrict(content, &f); err != nil {
		t.Fatal(err)
	}
	l.isWell(t, look)
	t.Cleanup(func() { l.shell(t, f.Mend) })
	l.shell(t, f.Break)
	var said []string
	eventually(t, "diagnose names it", 2*time.Minute, func(context.Context) bool {
		_, report := l.diagnose(t, look...)
		said = nil
		for _, each := range report.Findings {
			said = append(said, each.Rule+" "+each.Object)
		}
		return slices.ContainsFunc(report.Findings,
			func(each diagnose.Finding) bool { return slices.Contains(f.Rules, each.Rule) })
	})
	t.Logf("found: %s", strings.Join(said, ", "))
	if code, out := l.run(t, "status", l.name); code != f.Status {
		t.Errorf("status ended with %d, want %d:\n%s", code, f.Status, out)
	}
}

// shell runs commands with `kubectl` and `node` for the management cluster's machine.
func (l lab) shell(t *testing.T, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 4*time.Minute)
	defer cancel()
	node := machines(t)[0]
	script = strings.NewReplacer("CLUSTERNS", "management", "CLUSTER", l.name, "NODE", node, "LB", l.name+"-lb",
		"REGISTRY", l.name+"-registry", "IMAGE", "registry.k8s.io/pause:3.10").Replace(script)
	const functions = `set -e
node() { docker exec -i "$MACHINE" "$@"; }
kubectl() { node kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }
`
	c := exec.CommandContext(ctx, "sh", "-c", functions+script)
	c.Env = append(os.Environ(), "MACHINE="+node)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, script, out)
	}
}
