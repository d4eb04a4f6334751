//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// endsNaming sees that `up` ends with 50 and names a cause, and that `diagnose` names it within 30 s of the report of
// the machine, whose container has a label.
func (l lab) endsNaming(t *testing.T, up []string, label, want string) {
	t.Helper()
	junit := t.TempDir() + "/junit.xml"
	seen, started := l.diagnosesReport(t, label, want), time.Now()
	code, _ := l.run(t, append(up, "--junit", junit)...)
	t.Logf("%s: up ended with %d after %s", want, code, time.Since(started).Round(time.Second))
	content, err := os.ReadFile(junit)
	must(t, err)
	if code != 50 || !strings.Contains(string(content), want) {
		t.Fatalf("up ended with %d, want 50 and %q: %s", code, want, content)
	}
	d := <-seen
	if d.err != nil || d.after > 30*time.Second || !strings.Contains(d.text, want) {
		t.Errorf("diagnose ended after %s (%v) with %s, want %q", d.after, d.err, d.text, want)
	}
	t.Logf("%s: diagnose named it %s after machineadm did", want, d.after)
}

// diagnosis is what `diagnose` says of a machine, and how long after machineadm reported a failure there.
type diagnosis struct {
	after time.Duration
	text  string
	err   error
}

// diagnosesReport waits for the failure of a machine with a label that does not exist yet, and then runs `diagnose`
// until it names the cause.
func (l lab) diagnosesReport(t *testing.T, label, want string) <-chan diagnosis {
	t.Helper()
	former := containers(t, label)
	seen := make(chan diagnosis, 1)
	failed := func(ctx context.Context) (bool, error) {
		out, err := exec.CommandContext(ctx, "docker", "ps", "--format", "{{.Names}}", "--filter", "label="+label).Output()
		for _, name := range strings.Fields(string(out)) {
			report, _ := exec.CommandContext(ctx, "docker", "exec", name, "cat", machineadm.ReportPath).Output()
			var r machineadm.Report
			if !slices.Contains(former, name) && json.Unmarshal(report, &r) == nil && r.Result == machineadm.Failed {
				return true, nil
			}
		}
		return false, err
	}
	go func() {
		var d diagnosis
		if d.err = wait.PollUntilContextTimeout(t.Context(), time.Second, 10*time.Minute, true, failed); d.err == nil {
			started := time.Now()
			for d.err == nil && time.Since(started) < 40*time.Second && !strings.Contains(d.text, want) {
				out, err := l.command(t.Context(), "diagnose", l.name).CombinedOutput()
				if _, exited := errors.AsType[*exec.ExitError](err); !exited {
					d.err = err
				}
				d.after, d.text = time.Since(started).Round(time.Second), string(out)
			}
		}
		seen <- d
	}()
	return seen
}
