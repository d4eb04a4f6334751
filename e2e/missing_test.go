//go:build e2e

package e2e

import (
	"os"
	"testing"
)

// missing ends a test that its machine cannot run: as failed where CI is set, as skipped elsewhere. Package
// pkg/internal/prerequisite does the same for the tests of pkg, which alone may import it.
func missing(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("missing in CI: " + reason)
	}
	t.Skip("SKIPPED: " + reason)
}
