package environment

import (
	"strings"
	"testing"
)

// A map that became one value, or the other way round, is not shown: what it holds may be secret.
func TestWhatAMapHoldsIsNotShown(t *testing.T) {
	group := map[string]any{"git": map[string]any{"password": "hunter2"}}
	value := map[string]any{"git": "none"}
	for name, sides := range map[string][2]map[string]any{"a map becomes a value": {group, value},
		"a value becomes a map": {value, group}} {
		all := differences("", sides[0], sides[1], nil)
		if len(all) != 1 || strings.Contains(all[0].String(), "hunter2") || all[0].Key != "git" {
			t.Errorf("%s: %v", name, all)
		}
	}
}
