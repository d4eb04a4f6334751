package cleanup

import (
	"testing"
	"time"
)

// `cleanup --older-than` keeps a cluster because of its youngest resource with a creation time, or if none has one.
func TestYoungest(t *testing.T) {
	old, recent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	older, newer := []Item{{Name: "a", Created: old}}, []Item{{Name: "b", Created: recent}}
	for name, tc := range map[string]struct {
		plan  Plan
		want  string // name of the item; empty: none has a creation time
		young bool   // whether it is too young for what was made before the middle of January
	}{
		"nothing":        {Plan{}, "", false},
		"without a date": {Plan{Delete: []Item{{Name: "a"}}}, "", false},
		"the old one":    {Plan{Delete: []Item{{Name: "a"}, {Name: "b", Created: old}}}, "b", false},
		"the recent one": {Plan{Delete: []Item{{Name: "a", Created: recent}, {Name: "b", Created: old}}}, "a",
			true},
		"one that stays":      {Plan{Delete: older, Stays: newer}, "b", true},
		"one that is another": {Plan{Delete: older, LeftAlone: newer}, "a", false},
		"one is not known":    {Plan{Delete: older, Unknown: []NotChecked{{Kind: Volume}}}, "a", true},
	} {
		got, found := tc.plan.Youngest()
		if got.Name != tc.want || found != (tc.want != "") {
			t.Errorf("%s: %+v, %v", name, got, found)
		}
		if why := tc.plan.TooYoung(old.AddDate(0, 0, 14)); (why != "") != tc.young {
			t.Errorf("%s: it is kept, as %q", name, why)
		}
	}
}
