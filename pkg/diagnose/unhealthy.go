package diagnose

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// followUps are findings about what an object is like that a rule may explain better, from what stands further down.
func followUps() []string {
	return []string{"workload-unavailable", "control-plane-part-down", "pod-pending", "pod-crashing", "suspended",
		"paused", "quota-exceeded", "limit-range-refuses", "priority-class-missing",
		"service-account-missing", "write-refused"}
}

// unhealthy is what keeps a cluster from acting though it may say that it is ready. What the rules have explained is
// left to them.
func unhealthy(seen Seen, explained []Finding) []Finding {
	if seen.Ends {
		return nil // it goes, and all of it with it
	}
	var found []Finding
	for _, f := range readiness.Judge(seen.Observation) {
		held := f.ID == "suspended" || f.ID == "paused"
		if seen.Moved && held || slices.Contains(followUps(), f.ID) && isExplained(explained, f.Object) {
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

// container is the kind of objects outside of both clusters, which a report names once.
const container = "Container"

// wasSaid reports whether the report has a finding about a container already, from the other cluster.
func (r *Report) wasSaid(f Finding) bool {
	return strings.HasPrefix(f.Object, container+"/") && slices.ContainsFunc(r.Findings, func(said Finding) bool {
		return said.Object == f.Object && said.Rule == f.Rule
	})
}

// isExplained reports whether rules have found a cause of what is wrong with an object, or of what was made of it.
func isExplained(findings []Finding, r health.Ref) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Object == r.String() || slices.Contains(f.Delays, r.String()) ||
			slices.ContainsFunc(f.Chain, func(l Link) bool { return l.Object == r.String() })
	})
}

// unexplained leaves out what is not ready because of what keeps the cluster from acting.
func unexplained(waiting, unhealthy []Finding) []Finding {
	return slices.DeleteFunc(waiting, func(w Finding) bool {
		return slices.ContainsFunc(unhealthy, func(f Finding) bool {
			return w.Object == f.Object ||
				slices.ContainsFunc(w.Chain, func(l Link) bool { return l.Object == f.Object })
		})
	})
}

// finished reports whether the management cluster holds its own definition, and nobody else does.
func finished(o clusters.Observation) bool {
	held := o.Bootstrap.State == clusters.BootstrapActive || o.Bootstrap.State == clusters.BootstrapPaused
	return o.Management.State == clusters.ManagementActive && !held
}
