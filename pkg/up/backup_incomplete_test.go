package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A backup without a workload cluster must not look like one that has all of them.
func TestABackupThatLeavesOutAClusterIsAFault(t *testing.T) {
	b := BackedUp{Path: "/safe/demo-20260102T030405Z"}
	if err := b.incomplete("/srv/site"); err != nil {
		t.Errorf("nothing is left out: %v", err)
	}
	b.LeftOut = []LeftOut{{Cluster: "team-c/held", Reason: "Cluster team-c/held is paused"},
		{Object: "MachineHealthCheck team-d/early-workers", Reason: "nothing owns it"}}
	err := b.incomplete("/srv/site")
	if fault.CodeOf(err) != fault.BackupIncomplete || fault.CanRetry(err) {
		t.Errorf("code %q, %v", fault.CodeOf(err), err)
	}
	for _, want := range []string{b.Path, "workload cluster team-c/held: Cluster team-c/held is paused",
		"; MachineHealthCheck team-d/early-workers: nothing owns it"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if hint := fault.HintOf(err); !strings.Contains(hint, "run cluster-init backup /srv/site again") {
		t.Errorf("hint %q", hint)
	}
}
