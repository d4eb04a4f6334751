package status

import (
	"strings"
	"testing"
	"time"
)

func TestBecause(t *testing.T) {
	lasting := Cause{Cluster: "bootstrap", Object: "OpenStackServer/management/m", Cause: "no flavors were found",
		Remedy: "correct the flavor", Lasting: true}
	heals := Cause{Cluster: "bootstrap", Object: "GitRepository/flux-system/a", Cause: "no route to host",
		Remedy: "mend the network"}
	for name, tc := range map[string]struct {
		state  State
		causes []Cause
		want   State
		why    string
	}{
		"none":           {Progressing, nil, Progressing, "it waits"},
		"one that heals": {Progressing, []Cause{heals}, Progressing, "it waits"},
		"one that lasts": {Progressing, []Cause{heals, lasting}, Stuck,
			"no flavors were found (OpenStackServer/management/m)"},
		"one that lasts where it broke":  {Broken, []Cause{lasting}, Broken, "it waits"},
		"one that lasts where it is up":  {Up, []Cause{lasting}, Up, "it waits"},
		"one that lasts in what gave up": {Stuck, []Cause{lasting}, Stuck, "it waits"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{State: tc.state, Why: "it waits"}.Because(tc.causes)
			if r.State != tc.want || r.Why != tc.why || r.Causes == nil || len(r.Causes) != len(tc.causes) {
				t.Errorf("%s: %s, %+v", r.State, r.Why, r.Causes)
			}
		})
	}
	before := Report{State: Progressing, Why: "it waits"}
	after := before.Because([]Cause{lasting})
	if lines := after.Changes(before, time.Unix(0, 0)); len(lines) != 2 || !strings.Contains(strings.Join(lines, "\n"),
		"✗ no flavors were found (OpenStackServer/management/m); remedy: correct the flavor") {
		t.Errorf("%q", lines)
	}
	if lines := after.Changes(after, time.Unix(0, 0)); len(lines) > 0 {
		t.Errorf("nothing has changed: %q", lines)
	}
	var out strings.Builder
	if err := before.Because([]Cause{heals, lasting}).Print(&out); err != nil {
		t.Error(err)
	}
	if needs, may := strings.Index(out.String(), "✗ no flavors were found"),
		strings.Index(out.String(), "? no route to host"); needs < 0 || may < needs {
		t.Errorf("what needs a person does not come first:\n%s", out.String())
	}
	out.Reset()
	if err := after.Print(&out); err != nil ||
		!strings.Contains(out.String(), "✗ no flavors were found\n    object:     "+
			"OpenStackServer/management/m\n    remedy:     correct the flavor\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
