package benchmark

import (
	"fmt"
	"slices"
)

// Failed is a check that does not hold.
type Failed struct {
	Check
	Value string // of the argument
	Given bool   // the argument is set
}

// String says what is and what should be.
func (f Failed) String() string {
	is := "is not set"
	if f.Given {
		is = fmt.Sprintf("is %q", f.Value)
	}
	return fmt.Sprintf("%s %s: --%s %s, want that it %s", f.ID, f.Component, f.Argument, is, f.Want)
}

// Evaluate returns the checks of the components in the arguments that do not hold, and how many were made. A component
// without arguments is not checked.
func Evaluate(a Arguments, checks []Check) (failed []Failed, made int) {
	for _, check := range checks {
		arguments, known := a[check.Component]
		if !known {
			continue
		}
		made++
		value, given := arguments[check.Argument]
		if !check.holds(value, given) {
			failed = append(failed, Failed{Check: check, Value: value, Given: given})
		}
	}
	return failed, made
}

// OfRunning returns the checks that running components can be asked for. A kubelet does not show its argument
// seccomp-default: its configuration has only the field, and either of them suffices.
func (p Profile) OfRunning() []Check {
	return slices.DeleteFunc(p.Checks(), func(c Check) bool { return c.Argument == "seccomp-default" })
}

// OfDefinition returns the checks whose arguments the profile sets: the definition of a cluster has them.
func (p Profile) OfDefinition() []Check {
	var set []Check
	for _, check := range p.Checks() {
		if check.Set {
			set = append(set, check)
		}
	}
	return set
}
