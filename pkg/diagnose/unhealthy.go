package diagnose

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// followUps are findings that a rule may explain better, from an object further down.
var followUps = []string{"workload-unavailable", "control-plane-part-down", "pod-pending", "pod-crashing", "suspended",
	"paused", "quota-exceeded", "limit-range-refuses", "priority-class-missing",
	"service-account-missing", "write-refused"}

// unhealthy returns the problems of a cluster, and warnings, that the state of its objects need not show. It omits
// followUps that rules have explained, and what a pivot suspends or pauses.
func unhealthy(seen Seen, explained []Finding) []Finding {
	if seen.BeingDeleted {
		return nil // the whole cluster is being deleted
	}
	var found []Finding
	for _, f := range readiness.Judge(seen.Observation) {
		held := f.ID == "suspended" || f.ID == "paused"
		if seen.SuspendedForPivot && held || slices.Contains(followUps, f.ID) && isExplained(explained, f.Object) {
			continue
		}
		// A run that builds the cluster gets its objects ready, but does not start a stopped container again.
		transient := f.Transient || seen.Building && f.Object.Kind != container
		found = append(found, Finding{Cluster: seen.Cluster, Object: f.Object.String(), Rule: f.ID,
			Cause: f.Cause, Remedy: f.Remedy, Confidence: f.Confidence(), Transient: transient,
			Severity: f.Severity, Message: f.Message,
			Chain: []Link{{Object: f.Object.String(), State: string(f.Severity), Message: f.Message}}})
	}
	return found
}

// container is the kind of objects outside of both clusters, which a report lists once.
const container = "Container"

// alreadyReported reports whether the report already has this finding about a container from the other cluster.
func (r *Report) alreadyReported(f Finding) bool {
	return strings.HasPrefix(f.Object, container+"/") && slices.ContainsFunc(r.Findings, func(reported Finding) bool {
		return reported.Object == f.Object && reported.Rule == f.Rule
	})
}

// isExplained reports whether a rule has found the cause of an object's problem.
func isExplained(findings []Finding, r health.Ref) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Object == r.String() || slices.Contains(f.Delays, r.String()) ||
			slices.ContainsFunc(f.Chain, func(l Link) bool { return l.Object == r.String() })
	})
}

// unexplained leaves out objects whose problem is already among the unhealthy findings.
func unexplained(waiting, unhealthy []Finding) []Finding {
	return slices.DeleteFunc(waiting, func(w Finding) bool {
		return slices.ContainsFunc(unhealthy, func(f Finding) bool {
			return w.Object == f.Object ||
				slices.ContainsFunc(w.Chain, func(l Link) bool { return l.Object == f.Object })
		})
	})
}

// finished reports whether only the management cluster holds its definition.
func finished(o clusters.Observation) bool {
	held := o.Bootstrap.State == clusters.BootstrapActive || o.Bootstrap.State == clusters.BootstrapPaused
	return o.Management.Installed || o.Management.State == clusters.ManagementActive && !held
}
