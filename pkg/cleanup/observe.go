package cleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// checkTimeout is the default of Observer.Bound.
const checkTimeout = 15 * time.Second

// Observer checks whether a cluster may be deleted. Without Leases it changes nothing.
type Observer struct {
	Engine clusters.Engine
	// EngineAddress is the address of the ports that the engine publishes. If it is empty, the engine reports it.
	EngineAddress string
	Target        Target
	// StateFolder is where `up` keeps the kubeconfig and the backups of the cluster.
	StateFolder string
	// Kubeconfig is a file of the user's own that names the management cluster. If it is empty, there is only the one
	// in the state folder.
	Kubeconfig string
	// Bound limits the connections before the leases are checked, and then all checks together. It does not limit
	// waiting for a lease. A cluster that has not answered by then is silent. Zero means 15 seconds.
	Bound time.Duration
	// Leases acquire the leases before the clusters are checked, see Alone. If nil, the Observer only checks whether
	// another run holds them.
	Leases *lease.Set
	// Timing is the timing of the leases. Zero means lease.DefaultTiming.
	Timing lease.Timing
	// Forced receives what Alone would refuse. With Leases, Alone then takes over a lease that another run renews. If
	// nil, Alone refuses.
	Forced func(error)
	// Waiting receives what Alone waits for. Nil drops it.
	Waiting func(what string)
}

// Ask observes the bootstrap cluster, the management cluster and the resources of the plan. It reports whether all of
// that may be deleted. An error means that ctx ended. A cluster that does not answer is no error, but a reason to
// refuse.
func (o Observer) Ask(ctx context.Context, plan Plan) (Permission, error) {
	// This comes first: the rest may change until a run that died has lost its lease.
	bootstrap, management := o.alone(ctx, plan)
	seen := o.observe(ctx, plan).notAlone(bootstrap, management)
	if ctx.Err() != nil {
		return Permission{}, fmt.Errorf("check whether %s manages itself: %w", o.Target.Cluster, context.Cause(ctx))
	}
	return permit(seen, o.Target), nil
}

func (o Observer) observe(ctx context.Context, plan Plan) observation {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.Bound, checkTimeout))
	defer cancel()
	var seen observation
	seen.machines, seen.machinesErr = plan.machines()
	seen.serving = plan.serving()
	names := o.names()
	var checks sync.WaitGroup
	checks.Go(func() {
		seen.management = managementOf(names.SeeManagement(ctx, plan.hasBalancer(o.Target)), names.KubeconfigPaths(),
			o.Target)
	})
	bootstrap := clusters.KindCluster{Node: names.Node(), State: clusters.NodeAbsent}
	if plan.hasBootstrap() {
		bootstrap = names.SeeBootstrap(ctx)
	}
	seen.bootstrap = bootstrapOf(bootstrap, o.Target)
	checks.Wait()
	evidence := clusters.ReadLocalEvidence(o.StateFolder, o.Target.Cluster)
	seen.backup, seen.backupErr = evidence.Backup, evidence.Err
	return seen
}

// names returns what observes the two clusters: cleanup works without their environment.
func (o Observer) names() clusters.ByName {
	return clusters.ByName{Scope: clusters.Scope{Namespace: o.Target.Namespace, Cluster: o.Target.Cluster},
		Engine: o.Engine, EngineAddress: o.EngineAddress, StateFolder: o.StateFolder, Kubeconfig: o.Kubeconfig}
}

// hasBootstrap reports whether the bootstrap cluster's container was found, by its marker.
func (p Plan) hasBootstrap() bool {
	return slices.ContainsFunc(p.Delete, func(i Item) bool { return i.Kind == BootstrapNode })
}

// hasBalancer reports whether the container of the machines' load balancer was found, and is the target's.
func (p Plan) hasBalancer(t Target) bool {
	machines, _ := p.machines() // only Ask needs the error
	return slices.Contains(machines, owned.LoadBalancer(t.Cluster))
}

// serving returns the registry that a cluster of `install` reads from; empty if there is none.
func (p Plan) serving() string {
	for _, i := range p.Delete {
		if i.Kind == Registry && i.Serves != "" {
			return i.Name
		}
	}
	return ""
}

// machines returns the machines of the cluster, including their load balancer. It returns an error if a cloud could not
// list them.
func (p Plan) machines() (names []string, err error) {
	for _, i := range slices.Concat(p.Delete, p.Stays) {
		if i.Where == InDocker && i.Kind == Machine || i.Machine {
			names = append(names, i.called())
		}
	}
	slices.Sort(names)
	for _, u := range p.Unknown {
		if u.Machines {
			err = errors.Join(err, errors.New(u.Reason))
		}
	}
	return names, err
}
