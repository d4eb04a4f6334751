package status

import (
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
	Broken   State = "broken"     // a pivot was cut off, or something foreign stands in its place
	Absent   State = "absent"     // nothing of it is there
	Unknown  State = "unknown"    // what there is does not answer
)

// judge makes one word of what was seen.
func judge(seen up.Outlook, r Report) (State, string) {
	switch seen.Stage {
	case up.NotThere:
		return Absent, orElse(seen.Why, "nothing of it is there")
	case up.HalfMoved:
		return Broken, "a pivot was cut off: " + seen.Why
	case up.PivotBegun:
		return OnTheWay, "a pivot was begun, and nothing was moved yet"
	case up.Stopped:
		return Stuck, "something of it is stopped"
	case up.Refused:
		return refused(seen.Refusal)
	}
	of := r.Management
	if seen.Stage != up.SelfManaged {
		of = r.Bootstrap
	}
	worst, why := Up, "the management cluster manages itself"
	if seen.Stage != up.SelfManaged {
		worst, why = OnTheWay, "the bootstrap cluster holds the definition"
	}
	for _, o := range of.Objects {
		switch {
		case o.State == health.Failed || o.State == health.Suspended || o.State == "Paused":
			return Stuck, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		case o.State != health.Ready && worst == Up:
			worst, why = OnTheWay, fmt.Sprintf("%s is %s: %s", o, strings.ToLower(o.State), o.Message)
		}
	}
	if len(r.Unknown) > 0 && worst == Up {
		return Unknown, r.Unknown[0]
	}
	return worst, why
}

func refused(refusal error) (State, string) {
	if code := fault.CodeOf(refusal); code == fault.ClusterForeign || code == fault.PivotFailed || code == fault.PivotRefused {
		return Broken, refusal.Error()
	} else if code == fault.Busy {
		return OnTheWay, refusal.Error()
	}
	return Unknown, refusal.Error()
}

// Err is what a command that shows the report ends with: nil for one that is up.
func (r Report) Err() error {
	code, hint := fault.Code(""), "cluster-init diagnose "+r.Environment+" says why."
	switch r.State {
	case Up:
		return nil
	case OnTheWay:
		code, hint = fault.StatusOnTheWay, "Nothing has to be done. cluster-init status "+r.Environment+" --watch shows it change."
	case Stuck:
		code = fault.ComponentStuck
	case Broken:
		code, hint = fault.StatusBroken, "cluster-init pivot plan "+r.Environment+" shows a pivot that was cut off, and what ends it."
	case Absent:
		code, hint = fault.StatusAbsent, "cluster-init up "+r.Environment+" makes it."
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
