package readiness

import (
	"cmp"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Finding is a problem in a cluster, with its remedy.
type Finding struct {
	ID       string // stable, for programs: "workload-scaled-down"
	Object   health.Ref
	Cause    string
	Remedy   string
	Message  string // as reported by the object or the API server
	Severity Severity
	// Certain is false if the observation can have another cause.
	Certain bool
	// Transient reports that the problem can go away by itself.
	Transient bool

	// behind is the workload that should answer and does not. Its own finding, if there is one, replaces this one.
	behind health.Ref
}

// Confidence is how likely the cause is the right one.
type Confidence string

// The confidences.
const (
	HighConfidence Confidence = "high"
	LowConfidence  Confidence = "low" // the observation can have another cause
)

// Confidence is low if the observation can have another cause.
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
	// Blocking findings keep the cluster from doing something that it should do.
	Blocking Severity = "blocking"
	// Warning findings are problems, or will be, that nothing waits for yet.
	Warning Severity = "warning"
)

// judges are all checks of an observation. Each is a pure function.
var judges = []func(*view) []Finding{
	judgeAPIServer, judgeControlPlane, judgeEtcd, judgeNodes, judgeWorkloads, judgePods, judgeLeases,
	judgeClusterServices, judgeWebhooks, judgeAPIServices,
	judgeDryRuns, judgeDefinitions, judgeApplied, judgeArtifacts, judgePermissions, judgePolicies, judgeConfiguration,
	judgeHeld, judgeReplacements, judgeGenerations, judgeHanging,
	judgeClaims, judgeExpiries, judgeClocks, judgeRegistry, judgeBackups,
}

// Judge returns the problems of a cluster, the blocking ones first. It does not judge what was not observed.
func Judge(o Observation) []Finding {
	v := newView(o)
	var found []Finding
	for _, judge := range judges {
		found = append(found, judge(v)...)
	}
	if v.At.IsZero() {
		withoutServerTime(found)
	}
	found = causes(unique(found), v.allSilent())
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	return found
}

// withoutServerTime lowers what an age proves: this machine's clock may differ from the API server's.
func withoutServerTime(found []Finding) {
	for i := range found {
		switch f := &found[i]; f.ID {
		case "kubelet-silent", "lease-not-renewed", "lease-held-by-dead-process", "deletion-stuck", "namespace-stuck",
			"spec-not-seen", "expired", "expires-soon", "renewal-overdue":
			f.Certain = false
		case "workload-unavailable", "control-plane-part-down": // the state is known, and may be new
			f.Transient = true
		}
	}
}

// Blocks returns the findings with high confidence that keep a cluster from acting.
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
