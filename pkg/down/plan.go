package down

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Plan is what a run would delete, as far as an observation that starts nothing can find it.
type Plan struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Seen describes where its definition is.
	Seen string `json:"seen"`
	// Machines are the names of its Machines.
	Machines []string `json:"machines"`
	// WorkloadClusters are the clusters that it still manages, as namespace/name.
	WorkloadClusters []string `json:"workloadClusters"`
	// Gone reports that the cluster itself was not found. Others that it manages may have been found elsewhere.
	Gone bool `json:"-"`
	// Nothing reports that no run, this one or an earlier one, has found a cluster to delete.
	Nothing bool `json:"nothing"`
}

// Plan observes the clusters, acquires no lease, and changes and writes nothing. It returns the error of a run that
// could not begin. The code is fault.CleanupRefused if there are workload clusters that the run must not or cannot
// delete.
func (d *Run) Plan(ctx context.Context) (Plan, error) {
	p := Plan{Namespace: d.Scope.Namespace, Cluster: d.Scope.Cluster, Machines: []string{},
		WorkloadClusters: []string{}}
	if _, err := d.decider.AskEngine(ctx); err != nil {
		return p, err
	}
	o, v, err := d.decider.observe(ctx)
	if err != nil {
		return p, err
	}
	if p.Seen = v.reason; v.decision == start {
		p.Seen = "something of it is stopped, and is started first"
	}
	for _, holder := range []*kube.Cluster{o.Management.Cluster, o.Bootstrap.Cluster} {
		if holder == nil {
			continue
		}
		machines, err := capi.Machines(ctx, holder, p.Namespace)
		if err != nil {
			return p, fault.Retryable(fmt.Errorf("list the Machines of %s: %w", p.Cluster, err),
				fault.ClusterUnreachable, "Run the same command again when it can be read.")
		}
		for _, m := range machines {
			if m.Cluster == p.Cluster && !slices.Contains(p.Machines, m.Name) {
				p.Machines = append(p.Machines, m.Name)
			}
		}
	}
	all, err := d.otherClusters(nil).findAll(ctx, o)
	if err != nil {
		return p, err
	}
	for _, m := range all {
		if !d.WithWorkloadClusters {
			return p, refuseOthers(m.holder, d.Environment.Argument(), m.workload)
		}
		if err := refusePaused(m.workload); err != nil {
			return p, err
		}
		for _, c := range m.workload {
			p.WorkloadClusters = append(p.WorkloadClusters, c.Namespace+"/"+c.Name)
		}
	}
	slices.Sort(p.WorkloadClusters)
	p.Gone = v.decision == sweep && !o.Bootstrap.TeardownRequested
	p.Nothing = p.Gone && len(all) == 0
	return p, nil
}

func (d *Run) otherClusters(confirmed []string) otherClusters {
	return otherClusters{scope: d.Scope, environment: d.Environment.Argument(), delete: d.WithWorkloadClusters,
		confirmed: confirmed}
}

// Print writes the plan for people.
func (p Plan) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "Cluster %s/%s: %s\n", p.Namespace, p.Cluster, p.Seen)
	for _, m := range p.Machines {
		oneline.Fprintf(&b, "  delete Machine %s\n", m)
	}
	for _, c := range p.WorkloadClusters {
		oneline.Fprintf(&b, "  delete workload cluster %s, with its machines\n", c)
	}
	fmt.Fprintln(&b, "  delete what it has left: registry, volumes, networks, files on this machine, and in its cloud "+
		"what carries its tag or name")
	_, err := io.WriteString(out, b.String())
	return err
}
