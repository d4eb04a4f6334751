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
	Up          State = "up"          // the cluster manages itself, and everything is ready
	Progressing State = "progressing" // something is not ready yet, and no controller has given up
	Stuck       State = "stuck"       // something failed for good, or is suspended, paused or stopped
	Broken      State = "broken"      // a pivot was interrupted, or a cluster not managed by cluster-init has this name
	Absent      State = "absent"      // nothing of the environment exists
	Unknown     State = "unknown"     // something does not answer
)

// judge derives the state from an observation.
func judge(seen up.Outlook, r Report) (State, string) {
	if seen.SelfManagedBootstrapNotChecked() {
		return judgeObjects(r.Management,
			r.Unknown, Up, "the management cluster manages itself; not checked: whether a "+
				"bootstrap cluster is left")
	}
	switch seen.Stage {
	case up.NotThere:
		return Absent, orElse(seen.Why, "nothing of it exists")
	case up.HalfMoved:
		return Broken, "a pivot was interrupted: " + seen.Why
	case up.PivotBegun:
		return Progressing, "a pivot has started and has moved nothing yet"
	case up.Stopped:
		return Stuck, "a machine or the bootstrap cluster is stopped"
	case up.Refused:
		return refused(seen.Refusal)
	}
	if seen.Stage != up.SelfManaged {
		return judgeObjects(r.Bootstrap, r.Unknown, Progressing, "the bootstrap cluster holds the definition")
	}
	return judgeObjects(r.Management, r.Unknown, Up, "the management cluster manages itself")
}

// judgeObjects lowers the best possible state, worst, for objects that are not ready and for what is not known.
func judgeObjects(of Side, unknown []string, worst State, why string) (State, string) {
	for _, o := range of.Objects {
		switch {
		case o.State == health.Failed || o.State == health.Suspended || o.State == "Paused":
			return Stuck, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		case o.State != health.Ready && worst == Up:
			worst, why = Progressing, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		}
	}
	if len(unknown) > 0 && worst == Up {
		return Unknown, unknown[0]
	}
	return worst, why
}

func refused(refusal error) (State, string) {
	if code := fault.CodeOf(refusal); code == fault.ClusterForeign || code == fault.PivotFailed ||
		code == fault.PivotRefused {
		return Broken, refusal.Error()
	} else if code == fault.Busy {
		return Progressing, refusal.Error()
	}
	return Unknown, refusal.Error()
}

// Err is the error of a command that shows the report. It is nil if the environment is up.
func (r Report) Err() error {
	named := cmp.Or(r.Argument, r.Environment)
	code, hint := fault.Code(""), "Run cluster-init diagnose "+named+" to find the cause."
	switch r.State {
	case Up:
		return nil
	case Progressing:
		code, hint = fault.StatusProgressing, "Wait: cluster-init status "+named+
			" --watch shows the progress."
	case Stuck:
		code = fault.ComponentStuck
	case Broken:
		code, hint = fault.StatusBroken, "Run cluster-init pivot plan "+named+
			" to see an interrupted pivot and how to finish it."
	case Absent:
		code, hint = fault.StatusAbsent, "Run cluster-init up "+named+" to create it."
	default:
		code = fault.ClusterUnreachable
	}
	return fault.New(code, r.Environment+" is "+string(r.State)+": "+r.Why, hint)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
