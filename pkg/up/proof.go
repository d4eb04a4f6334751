package up

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// proof is what the looks at a management cluster have found so far.
type proof struct {
	manages bool          // it manages itself: what is unmet are machines that it is still to make, replace or delete
	counted bool          // those were looked at, too
	unmet   []pivot.Unmet // what is not yet as it should be
	// healthy is whether it was seen whether its controllers act, and findings what is wrong with them.
	healthy  bool
	findings []readiness.Finding
}

// warn tells of what is wrong, and keeps nothing from acting.
func (p proof) warn(report pipeline.Reporter) {
	for _, f := range p.findings {
		if !f.Transient {
			report.Warn("%s (%s). %s", f.Cause, f.Object, f.Remedy)
		}
	}
}

// after is what is found when one more look has ended. What one that failed did not come to is as it was seen before.
func (p proof) after(seen proof, err error) proof {
	if err != nil && (p.manages || !seen.manages) {
		return p
	}
	return seen
}

// words are what is waited for, and what was not seen when nobody waits any longer. Who could not be asked has not said
// that it is otherwise.
func (p proof) words() (awaited, lack string) {
	switch {
	case !p.manages:
		return "the management cluster to manage itself", "the management cluster was not seen to manage itself"
	case slices.ContainsFunc(p.unmet, func(u pivot.Unmet) bool { return u.Aspect == pivot.AspectHealth }):
		return "the management cluster to be able to act",
			"the management cluster says that it manages itself, but cannot act"
	case !p.counted || len(p.unmet) > 0:
		return "the management cluster to have all its machines as they should be",
			"the management cluster manages itself, but was not seen to have all its machines as they should be"
	}
	return "the marks of the pivot in the management cluster", "the management cluster manages itself, but what the " +
		"pivot has marked in it could not be looked at, or not be cleared"
}
