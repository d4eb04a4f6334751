// Package prerequisite says what a test needs from its machine. A developer without it sees the test skipped; CI fails.
package prerequisite

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program. Where it is not installed, the test ends as with Missing.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "program "+name+" is not installed")
	}
	return path
}

// Missing ends the test: as failed where CI is set, as skipped elsewhere. A skipped test in CI would look like a passed
// one.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("missing in CI: " + reason)
	}
	t.Skip("SKIPPED: " + reason)
}
