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
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// askBound is what Observer.Bound is for people.
const askBound = 15 * time.Second

// Nodes is what is needed of the Docker engine to ask a cluster that runs on it.
type Nodes interface {
	Info(context.Context) (docker.Info, error)
	Inspect(context.Context, string) (docker.Container, error)
	HasFile(ctx context.Context, container, path string) (bool, error)
	Exec(ctx context.Context, container string, args []string, o docker.ExecOptions) error
}

// Observer asks whether a cluster may be deleted. It changes nothing.
type Observer struct {
	Engine Nodes
	// EngineAddress is where ports are reached that the engine publishes; empty: the engine says so.
	EngineAddress string
	Target        Target
	// StateFolder is where `up` keeps the kubeconfig and the backups of the cluster.
	StateFolder string
	// Kubeconfig is a file of the user's own that names the management cluster; empty: there is only the one in the
	// state folder.
	Kubeconfig string
	// Bound is for all questions together: who has not answered by then is silent. Zero means 15 seconds.
	Bound time.Duration
	// Leases get the lease of each cluster that answers, before it is asked; nil: only whether another run has it is
	// looked at.
	Leases *lease.Set
	// Timing is that of the leases; zero means lease.DefaultTiming.
	Timing lease.Timing
	// Forced is called with what Alone would refuse; a lease that another run renews is then taken over. nil: Alone
	// refuses.
	Forced func(error)
	// Waiting is called with what Alone waits for; nil drops it.
	Waiting func(what string)
}

// Ask looks at the bootstrap cluster, the management cluster and what the plan has found, and says whether all of that
// may go. The error is the end of ctx: a cluster that does not answer is no error, but a reason to refuse.
func (o Observer) Ask(ctx context.Context, plan Plan) (Permission, error) {
	// before the rest, which may change until a run that dies has lost its lease
	bootstrap, management := o.alone(ctx, plan)
	seen := o.observe(ctx, plan)
	seen.notAlone(bootstrap, management)
	if ctx.Err() != nil {
		return Permission{}, fmt.Errorf("ask whether %s manages itself: %w", o.Target.Cluster, context.Cause(ctx))
	}
	return permit(seen, o.Target), nil
}

func (o Observer) observe(ctx context.Context, plan Plan) observation {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.Bound, askBound))
	defer cancel()
	var seen observation
	seen.machines, seen.machinesErr = plan.machines()
	var beside sync.WaitGroup
	beside.Go(func() { seen.management = o.seeManagement(ctx, seen.machines) })
	seen.bootstrap = o.seeBootstrap(ctx, plan)
	beside.Wait()
	left := clusters.ReadLocalEvidence(o.StateFolder, o.Target.Cluster)
	seen.backup, seen.backupErr = left.Backup, left.Err
	return seen
}

// machines returns the machines of the cluster, and the load balancer before them; an error when there may be more.
func (p Plan) machines() (names []string, err error) {
	for _, i := range slices.Concat(p.Delete, p.Stays) {
		if i.Where == InDocker && i.Kind == Machine || i.Machine {
			names = append(names, i.called())
		}
	}
	slices.Sort(names)
	for _, u := range p.Unknown {
		if u.Machines {
			err = errors.Join(err, errors.New(u.Why))
		}
	}
	return names, err
}

// engineAddress is the machine on which the engine publishes ports, when that is not this one.
func (o Observer) engineAddress(ctx context.Context) (string, error) {
	if o.EngineAddress != "" {
		return o.EngineAddress, nil
	}
	info, err := o.Engine.Info(ctx)
	return info.RemoteHost(), err
}
