package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// State is the state of an environment, in one word.
type State string

// The states of an environment.
const (
	Up          State = "up"          // the cluster manages itself, and all shown objects are ready
	Progressing State = "progressing" // something is not ready yet, and no controller has given up
	Stuck       State = "stuck"       // something failed for good, or is suspended, paused or stopped
	Broken      State = "broken"      // a pivot was interrupted or refused, or an unmanaged cluster has this name
	Absent      State = "absent"      // nothing of the environment exists
	Unknown     State = "unknown"     // something does not answer
)

// judge derives the state from an observation, and from the objects of the report.
func judge(seen up.Outlook, r Report) (State, string) {
	if seen.Management.Installed {
		return judgeObjects(r.Management, r.Unknown, Up, "the existing cluster is a management cluster")
	}
	if seen.SelfManagedBootstrapNotChecked() {
		return judgeObjects(r.Management, r.Unknown, Up, "the management cluster manages itself; not checked: whether "+
			"a bootstrap cluster is left")
	}
	switch seen.Stage {
	case up.NotThere:
		return Absent, cmp.Or(seen.Why, "nothing of it exists")
	case up.HalfMoved:
		return Broken, "a pivot was interrupted: " + seen.Why
	case up.PivotBegun:
		return Progressing, "a pivot has started and has moved nothing yet"
	case up.Stopped:
		return Stuck, "a machine or the bootstrap cluster is stopped"
	case up.Refused:
		return refused(seen.Refusal)
	case up.SelfManaged:
		return judgeObjects(r.Management, r.Unknown, Up, "the management cluster manages itself")
	default:
		return judgeObjects(r.Bootstrap, r.Unknown, Progressing, "the bootstrap cluster holds the definition")
	}
}

// judgeObjects lowers state for objects that are suspended, paused or failed. It lowers Up also for other objects that
// are not ready, and for failed reads.
func judgeObjects(side Side, unknown []string, state State, why string) (State, string) {
	for _, o := range side.Objects {
		switch {
		case o.State == health.Failed || o.State == health.Suspended || o.State == paused:
			return Stuck, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		case o.State != health.Ready && state == Up:
			state, why = Progressing, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		}
	}
	if len(unknown) > 0 && state == Up {
		return Unknown, unknown[0]
	}
	return state, why
}

// refused derives the state from the reason why a run would not begin.
func refused(refusal error) (State, string) {
	switch fault.CodeOf(refusal) {
	case fault.ClusterForeign, fault.PivotFailed, fault.PivotRefused:
		return Broken, refusal.Error()
	case fault.Busy:
		return Progressing, refusal.Error()
	default:
		return Unknown, refusal.Error()
	}
}

// Err is the error of a command that shows the report. It is nil if the environment is up.
func (r Report) Err() error {
	argument := cmp.Or(r.Argument, r.Environment)
	var code fault.Code
	hint := "Run cluster-init diagnose " + argument + " to find the cause."
	switch r.State {
	case Up:
		return nil
	case Progressing:
		code, hint = fault.StatusProgressing, "Wait: cluster-init status "+argument+" --watch shows the progress."
	case Stuck:
		code = fault.ComponentStuck
	case Broken:
		code, hint = fault.StatusBroken, "Run cluster-init pivot plan "+argument+
			" to see an interrupted pivot and how to finish it."
	case Absent:
		code, hint = fault.StatusAbsent, "Run cluster-init up "+argument+" to create it."
	default:
		code = fault.ClusterUnreachable
	}
	return fault.New(code, r.Environment+" is "+string(r.State)+": "+r.Why, hint)
}
