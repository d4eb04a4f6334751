package diagnose

import (
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/readiness"
)

func lasting(object string) Finding {
	return Finding{Object: object, Cause: "no flavors were found", Remedy: "correct it",
		Confidence: readiness.HighConfidence}
}

// What one diagnosis alone has found does not make an environment stuck.
func TestCausesThatLast(t *testing.T) {
	found, other := lasting("OpenStackServer/a/b"), lasting("OpenStackServer/a/c")
	passing := found
	passing.Transient = true
	for name, tc := range map[string]struct {
		earlier, later []Finding
		want           bool
	}{
		"in both":             {[]Finding{found}, []Finding{found}, true},
		"in the second alone": {nil, []Finding{found}, false},
		"of another object":   {[]Finding{other}, []Finding{found}, false},
		"passing before":      {[]Finding{passing}, []Finding{found}, false},
		"passing now":         {[]Finding{found}, []Finding{passing}, false},
	} {
		if got := confirm(tc.earlier, tc.later); len(got) != 1 || got[0].Lasting() != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCausesFromBeforeARunAreNotPermanent(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	timeless, old, fresh, passing := lasting("a"), lasting("b"), lasting("c"), lasting("d")
	old.At, fresh.At, passing.Transient = began.Add(-time.Second), began.Add(time.Second), true
	got := Report{Findings: []Finding{timeless, old, fresh, passing}}.Permanent(began)
	if len(got) != 2 || got[0].Object != "a" || got[1].Object != "c" {
		t.Errorf("permanent are %+v", got)
	}
}
