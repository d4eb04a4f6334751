package environment_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestWhatTakesAwayIsRefused(t *testing.T) {
	fewer := environment.Change{Key: "cluster.worker.replicas", From: "2", To: "0", TakesAway: "fewer workers"}
	off := environment.Change{Key: "components.cni", From: "on", To: "off",
		TakesAway: "what the component installed stays"}
	more := environment.Change{Key: "cluster.control_plane.replicas", From: "1", To: "3"}
	cases := map[string]struct {
		changes []environment.Change
		allowed []string
		named   []string // in the hint; none: it is not refused
	}{
		"nothing":             {},
		"what only adds":      {changes: []environment.Change{more}},
		"what takes away":     {changes: []environment.Change{more, fewer}, named: []string{fewer.Key}},
		"what the user named": {changes: []environment.Change{fewer}, allowed: []string{fewer.Key}},
		"something else was named": {changes: []environment.Change{fewer, off}, allowed: []string{fewer.Key},
			named: []string{off.Key}},
		"both at once": {changes: []environment.Change{fewer, off}, named: []string{fewer.Key, off.Key}},
		"a prefix does not name all": {changes: []environment.Change{fewer}, allowed: []string{"cluster"},
			named: []string{fewer.Key}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := environment.RefuseRemovals(tc.changes, tc.allowed)
			if len(tc.named) == 0 {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if fault.CodeOf(err) != fault.ChangeRefused || !strings.Contains(fault.HintOf(err), "--allow-changes "+
				strings.Join(tc.named, ",")+".") {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
		})
	}
}
