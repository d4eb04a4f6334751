package up

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// A management cluster that does not answer, and no machine where this run looks: the machines may be where another run looked. Only what
// the state folder tells of the runs before can say that there was no pivot.
func TestASilentManagementClusterWithoutMachines(t *testing.T) {
	unreadable := errors.New("permission denied")
	for name, tc := range map[string]struct {
		traces  world.Traces
		unknown bool   // it is refused
		says    string // in the refusal
	}{
		"its kubeconfig is all that there is":       {world.Traces{}, true, "only its kubeconfig tells of it"},
		"a run made a bootstrap cluster, no backup": {world.Traces{Building: true}, false, ""},
		"a backup":                              {world.Traces{Backup: "/state/demo-1"}, true, "there is a backup of its definition (/state/demo-1)"},
		"a backup, and a new bootstrap cluster": {world.Traces{Building: true, Backup: "/state/demo-1"}, true, "/state/demo-1"},
		"the state folder cannot be read":       {world.Traces{Building: true, Err: unreadable}, true, "it is not known whether a pivot was made (permission denied)"},
	} {
		for b, otherwise := range map[world.BootstrapState]decision{world.BootstrapAbsent: fresh, world.BootstrapUnfinished: fresh, world.BootstrapEmpty: goOn} {
			o := seen(b, world.ManagementSilent)
			o.Traces, o.Management.Files = tc.traces, []string{"/mine", "/state/kube config"}
			v := judge(o, thisRun)
			if !tc.unknown {
				if v.decision != otherwise || !strings.Contains(v.warning, "/mine, /state/kube config") {
					t.Errorf("%s, bootstrap cluster %s: %s, want %s: %v\nwarning: %s", name, b, short(v), otherwise, v.refusal, v.warning)
				}
				continue
			}
			hint := fault.HintOf(v.refusal)
			if short(v) != "cluster/unreachable?" || !strings.Contains(fmt.Sprint(v.refusal), tc.says) || !strings.Contains(hint, "rm '/mine' '/state/kube config'") || !strings.Contains(hint, "cluster-init cleanup env") {
				t.Errorf("%s, bootstrap cluster %s: %s: %v\nhint: %s", name, b, short(v), v.refusal, hint)
			}
		}
	}
}
