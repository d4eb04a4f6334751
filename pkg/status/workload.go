package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadClusters lists the clusters that the management cluster manages besides itself. It has none before it runs
// the kind Cluster.
func (r *Report) workloadClusters(ctx context.Context, management *kube.Cluster, self clusters.Scope) {
	if management == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := workload.List(ctx, management, workload.Key{Namespace: self.Namespace, Name: self.Cluster})
	if err != nil {
		r.Unknown = append(r.Unknown, fmt.Sprintf("workload clusters: %v", err))
		return
	}
	r.WorkloadClusters = list
}

// maxListed is how many workload clusters that are not ready a table names.
const maxListed = 10

// printWorkloadClusters prints how many there are, and names those that are not ready.
func printWorkloadClusters(b *strings.Builder, list []workload.Listed, wide bool) {
	if len(list) == 0 {
		return
	}
	unready := slices.DeleteFunc(slices.Clone(list), func(l workload.Listed) bool { return l.State == workload.Ready })
	oneline.Fprintf(b, "\nworkload clusters: %d of %d Ready\n", len(list)-len(unready), len(list))
	for i, l := range unready {
		if i == maxListed && !wide {
			oneline.Fprintf(b, "  and %d more\n", len(unready)-i)
			break
		}
		oneline.Fprintf(b, "  %s\n", describe(l, messageLimit(wide)))
	}
}

func describe(l workload.Listed, limit int) string {
	text := oneline.Sprintf("%s/%s: %s", l.Namespace, l.Name, l.State)
	if l.Message != "" {
		text += ": " + oneline.Of(l.Message, limit)
	}
	return text
}

// workloadChanges lists the workload clusters that are new, changed, or no longer in the report.
func (r Report) workloadChanges(earlier Report) (changes []string) {
	for _, l := range r.WorkloadClusters {
		if !slices.Contains(earlier.WorkloadClusters, l) {
			changes = append(changes, "workload cluster "+describe(l, maxMessageLength))
		}
	}
	for _, l := range earlier.WorkloadClusters {
		if r.Management.Server == "" || len(r.Unknown) > 0 {
			break // the cluster did not answer, or could not be read
		}
		if !slices.ContainsFunc(r.WorkloadClusters, func(other workload.Listed) bool {
			return other.Namespace == l.Namespace && other.Name == l.Name
		}) {
			changes = append(changes, oneline.Sprintf("workload cluster %s/%s is gone", l.Namespace, l.Name))
		}
	}
	return changes
}
