//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// diff compares a finished cluster with what built it, in which nothing differs, and with more workers, in which
// only they and their health check do.
func (l lab) diff(t *testing.T) {
	t.Helper()
	args := []string{"diff", l.name, "--bundle", l.bundle, "--exit-code"}
	if code, out := l.run(t, args...); code != 0 || !strings.HasSuffix(out, "Nothing differs.\n") {
		t.Errorf("ended with %d:\n%s", code, out)
	}
	code, out := l.run(t, append(args, "--set", "cluster.worker.replicas=7")...)
	if code != 85 || !strings.Contains(out, "/spec/replicas: ") ||
		!strings.HasSuffix(out, "Differences: 1 value, 4 objects to change.\n") {
		t.Errorf("with seven workers: ended with %d:\n%s", code, out)
	}
}
