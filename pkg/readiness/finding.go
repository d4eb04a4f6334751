package readiness

import (
	"cmp"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Finding is something that is wrong in a cluster, and what to do about it.
type Finding struct {
	ID       string // stable, for programs: "workload-scaled-down"
	Object   health.Ref
	Cause    string
	Remedy   string
	Message  string // what was seen, in its own words
	Severity Severity
	// Certain is false where what was seen can have another cause.
	Certain bool
	// Transient reports that it can go away by itself.
	Transient bool

	// behind is the workload that would answer where nobody does: what is wrong with that is the cause.
	behind health.Ref
}

// Confidence is how sure it is that a cause is the one.
type Confidence string

// The confidences.
const (
	HighConfidence Confidence = "high"
	LowConfidence  Confidence = "low" // what was seen can have another cause
)

// Confidence is low where what was seen can have another cause.
func (f Finding) Confidence() Confidence {
	if f.Certain {
		return HighConfidence
	}
	return LowConfidence
}

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// Blocking findings keep the cluster from acting: something that it is to do does not happen.
	Blocking Severity = "blocking"
	// Warning findings are wrong, or will be, and nothing waits for them yet.
	Warning Severity = "warning"
)

// judges are all questions that an observation is asked. Each is a pure function.
var judges = []func(*view) []Finding{
	judgeAPIServer, judgeControlPlane, judgeEtcd, judgeNodes, judgeWorkloads, judgePods, judgeLeases,
	judgeClusterServices, judgeWebhooks, judgeAPIServices,
	judgeDryRuns, judgeDefinitions, judgeApplied, judgeArtifacts, judgePermissions, judgePolicies, judgeConfiguration,
	judgeHeld, judgeGenerations, judgeHanging,
	judgeClaims, judgeExpiries, judgeClocks, judgeRegistry,
}

// Judge says what is wrong in a cluster, what keeps it from acting first. What was not observed is not judged.
func Judge(o Observation) []Finding {
	v := newView(o)
	var found []Finding
	for _, judge := range judges {
		found = append(found, judge(v)...)
	}
	found = causes(unique(found), v.allSilent())
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	return found
}

// Blocks returns the findings that certainly keep a cluster from acting.
func Blocks(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		return f.Severity != Blocking ||
			!f.Certain
	})
}

func (f Finding) weight() int {
	n := 0
	if f.Severity != Blocking {
		n += 4
	}
	if f.Transient {
		n += 2
	}
	if !f.Certain {
		n++
	}
	return n
}

// unique keeps the first finding of each object and cause.
func unique(found []Finding) []Finding {
	type key struct {
		object health.Ref
		cause  string
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(found, func(f Finding) bool {
		k := key{f.Object, f.Cause}
		was := seen[k]
		seen[k] = true
		return was
	})
}
