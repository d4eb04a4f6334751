package up

import (
	"strings"
	"testing"
)

// Who reads that a cluster does not manage itself looks for another fault than who reads that machines are still being replaced.
func TestProofSaysWhatLacks(t *testing.T) {
	for name, tc := range map[string]struct {
		p             proof
		awaited, lack string
	}{
		"nothing proved yet":     {proof{}, "to manage itself", "does not manage itself"},
		"only machines are left": {proof{manages: true}, "all its machines", "manages itself, but not all its machines"},
	} {
		if p := tc.p; !strings.Contains(p.awaited(), tc.awaited) || !strings.Contains(p.lack(), tc.lack) {
			t.Errorf("%s: %q, %q", name, p.awaited(), p.lack())
		}
	}
}
