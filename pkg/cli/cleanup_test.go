package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
)

// What is not known may be younger than anything that is.
func TestOlderThan(t *testing.T) {
	old := []cleanup.Item{{Kind: "port", Name: "p", Created: time.Now().Add(-2 * time.Hour)}}
	for name, test := range map[string]struct {
		plan      cleanup.Plan
		olderThan time.Duration
		says      string // empty: it goes
	}{
		"no limit":      {cleanup.Plan{Delete: old, Unknown: []cleanup.NotChecked{{Kind: "server"}}}, 0, ""},
		"all is older":  {cleanup.Plan{Delete: old}, time.Hour, ""},
		"it is younger": {cleanup.Plan{Delete: old}, 3 * time.Hour, "port p was made 2h0m"},
		"a kind is unknown": {cleanup.Plan{Delete: old, Unknown: []cleanup.NotChecked{{Kind: "server"}}}, time.Hour,
			"what it has of kind server is not known"},
		"nothing has an age": {cleanup.Plan{Delete: []cleanup.Item{{Kind: "router"}}}, time.Hour,
			"the age of its resources is not known"},
	} {
		var said bytes.Buffer
		o := &cleanupOptions{olderThan: test.olderThan, streams: Streams{Err: &said}}
		if kept := o.tooYoung(test.plan, time.Now().Add(-test.olderThan)); kept != (test.says != "") ||
			!strings.Contains(said.String(), test.says) {
			t.Errorf("%s: kept %v, %q", name, kept, said.String())
		}
	}
}

// What an engine with a clock that is behind made a moment ago looks old by ours.
func TestEarlierClock(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct{ engine, want time.Time }{
		"behind": {now.Add(-time.Hour), now.Add(-time.Hour)}, "ahead": {now.Add(time.Hour), now},
		"silent": {time.Time{}, now},
	} {
		if got := earlierClock(now, tc.engine); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
