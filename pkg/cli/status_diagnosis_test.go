package cli

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/status"
)

// What one look alone has found does not make an environment stuck.
func TestCausesThatLast(t *testing.T) {
	lasting := status.Cause{Object: "OpenStackServer/a/b", Cause: "no flavors were found", Remedy: "correct it",
		Lasting: true}
	passing := lasting
	passing.Lasting = false
	other := lasting
	other.Object = "OpenStackServer/a/c"
	for name, tc := range map[string]struct {
		earlier, later []status.Cause
		want           bool
	}{
		"in both":             {[]status.Cause{lasting}, []status.Cause{lasting}, true},
		"in the second alone": {nil, []status.Cause{lasting}, false},
		"of another object":   {[]status.Cause{other}, []status.Cause{lasting}, false},
		"passing before":      {[]status.Cause{passing}, []status.Cause{lasting}, false},
		"passing now":         {[]status.Cause{lasting}, []status.Cause{passing}, false},
	} {
		if got := inBoth(tc.earlier, tc.later); len(got) != 1 || got[0].Lasting != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
