package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// State is how an environment is, in one word.
type State string

// The states of an environment.
const (
	Up       State = "up"         // it manages itself, and all of it is ready
	OnTheWay State = "on the way" // something is not ready yet, and nothing has given up
	Stuck    State = "stuck"      // something has given up, is suspended, paused or stopped: waiting does not help
	Broken   State = "broken"     // a pivot was interrupted, or something foreign stands in its place
	Absent   State = "absent"     // nothing of it is there
	Unknown  State = "unknown"    // what there is does not answer
)

// judge makes one word of what was seen.
func judge(seen up.Outlook, r Report) (State, string) {
	if seen.ByItself() {
		return judgeObjects(r.Management, r.Unknown, Up, "the management cluster manages itself; whether a bootstrap "+
			"cluster is left is not known here")
	}
	switch seen.Stage {
	case up.NotThere:
		return Absent, orElse(seen.Why, "nothing of it is there")
	case up.HalfMoved:
		return Broken, "a pivot was interrupted: " + seen.Why
	case up.PivotBegun:
		return OnTheWay, "a pivot was begun, and nothing was moved yet"
	case up.Stopped:
		return Stuck, "something of it is stopped"
	case up.Refused:
		return refused(seen.Refusal)
	}
	if seen.Stage != up.SelfManaged {
		return judgeObjects(r.Bootstrap, r.Unknown, OnTheWay, "the bootstrap cluster holds the definition")
	}
	return judgeObjects(r.Management, r.Unknown, Up, "the management cluster manages itself")
}

// judgeObjects makes worse what an environment is at best, by what is not ready in the cluster that counts, and by what
// of it is not known.
func judgeObjects(of Side, unknown []string, worst State, why string) (State, string) {
	for _, o := range of.Objects {
		switch {
		case o.State == health.Failed || o.State == health.Suspended || o.State == "Paused":
			return Stuck, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		case o.State != health.Ready && worst == Up:
			worst, why = OnTheWay, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
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
		return OnTheWay, refusal.Error()
	}
	return Unknown, refusal.Error()
}

// Err is what a command that shows the report ends with: nil for one that is up.
func (r Report) Err() error {
	named := cmp.Or(r.Argument, r.Environment)
	code, hint := fault.Code(""), "cluster-init diagnose "+named+" says why."
	switch r.State {
	case Up:
		return nil
	case OnTheWay:
		code, hint = fault.StatusOnTheWay, "Nothing has to be done. cluster-init status "+named+
			" --watch shows it change."
	case Stuck:
		code = fault.ComponentStuck
	case Broken:
		code, hint = fault.StatusBroken, "cluster-init pivot plan "+named+
			" shows a pivot that was interrupted, and what ends it."
	case Absent:
		code, hint = fault.StatusAbsent, "cluster-init up "+named+" makes it."
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
