package readiness

import (
	"fmt"
	"strings"
	"testing"
)

// A machine that leads etcd and has no kubelet is not replaced when it is deleted, either: it must stop first.
func TestTheRemedyForAMachineThatIsNotReplaced(t *testing.T) {
	for held, want := range map[string]string{
		"quorum would be lost":           "kubectl -n default delete machine w",
		"failed to move etcd leadership": "stop the server or the container of w",
		"unable to move etcd leadership, no candidate machines for etcd leadership found": "If the other control-plane " +
			"machines run",
	} {
		o := healthy(t)
		o.add(t, failedMachine("w", "", fmt.Sprintf(`, {type: OwnerRemediated, status: "False", `+
			`reason: CannotBeRemediated, message: "%s"}`, held)))
		found := Judge(o)
		if len(found) != 1 || !strings.Contains(found[0].Remedy, want) || !strings.Contains(found[0].Cause, held) {
			t.Errorf("%s: %+v", held, found)
		}
	}
}
