package cli

import (
	"context"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Only an observation that timed out has the error; one that the user ended, or that is complete, has not.
func TestALookThatIsLateSaysSo(t *testing.T) {
	past := time.Now().Add(-time.Second)
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tc := range map[string]struct {
		asked context.Context
		ends  time.Time
		late  bool
	}{
		"its bound is over":     {t.Context(), past, true},
		"it is complete":        {t.Context(), time.Now().Add(time.Hour), false},
		"the user has ended it": {ended, past, false},
	} {
		bounded, cancel := context.WithDeadline(tc.asked, tc.ends)
		err := late(tc.asked, bounded, "the status", 2*time.Minute)
		cancel()
		if (err != nil) != tc.late || tc.late && (fault.CodeOf(err) != fault.Timeout || !fault.CanRetry(err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
