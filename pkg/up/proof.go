package up

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// proof is what the observations of a management cluster have found so far.
type proof struct {
	manages bool          // it manages itself: unmet then lists its machines or its health
	counted bool          // its machines were checked, too
	unmet   []pivot.Unmet // conditions that are not met yet
	// healthy reports whether all checks of its controllers were made; findings are the problems that they found.
	healthy  bool
	findings []readiness.Finding
}

// warn reports the problems that do not block the cluster and do not go away by themselves.
func (p proof) warn(report pipeline.Reporter) {
	for _, f := range p.findings {
		if !f.Transient {
			report.Warn("%s (%s). %s", f.Cause, f.Object, f.Remedy)
		}
	}
}

// after returns the proof after one more observation. If that failed, what it did not check stays as observed before.
func (p proof) after(seen proof, err error) proof {
	if err != nil && (p.manages || !seen.manages) {
		return p
	}
	return seen
}

// words returns what the phase waits for, and what it did not observe by the time it stops. A failed check does not
// prove the opposite.
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
