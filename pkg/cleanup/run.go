package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Cleaner cleans up after one cluster. Engine, Target and Patience are required.
type Cleaner struct {
	Engine Engine
	// Cloud is where the cluster's machines are. Nil means that they are containers.
	Cloud  provider.Leftovers
	Target Target
	// Patience is how long a deletion in a cloud continues without progress.
	Patience time.Duration
	// Forced reports that the user insists: what is known of a cluster is deleted, whatever it may have elsewhere.
	Forced bool
	// MadeBefore keeps everything in the cloud if something of the cluster was, or may have been, created after it.
	// Zero means never.
	MadeBefore time.Time
	// Leases are the leases of the clusters that are deleted. The renewal of each ends with its cluster, and the
	// deletion continues without it. Nil means that there are none.
	Leases *lease.Set
	// OnResult receives the result of each attempt to delete an item at once, from several goroutines in parallel. The
	// receipt may correct it later. Nil drops the results.
	OnResult func(Result)
}

// Plan looks for everything of the target, and changes nothing. Kinds that a cloud could not list are part of the plan.
// Any other failed query is an error.
func (c Cleaner) Plan(ctx context.Context) (Plan, error) {
	plan, err := Discover(ctx, c.Engine, c.Target)
	if err != nil {
		return plan, err
	}
	c.elsewhere(&plan)
	if c.Cloud == nil {
		return plan, nil
	}
	found, err := c.look(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan.add(found)
	return plan, nil
}

// elsewhere adds what the cluster may have where cleanup has no access. If its machines are there, the rest is unknown
// until the user confirms that it is gone.
func (c Cleaner) elsewhere(plan *Plan) {
	switch e := c.Target.Elsewhere; {
	case e.Place == "":
	case e.Certain && !c.Forced:
		plan.Unknown = append(plan.Unknown, NotChecked{Kind: AllOfCloud, Reason: e.Place + ": " + e.Reason,
			hint: e.Hint + " When nothing is left there, add --force " + c.Target.Cluster + "."})
	default:
		plan.LeftAlone = append(plan.LeftAlone, Item{Where: Where(AllOfCloud), Kind: AllOfCloud, Name: e.Place,
			Proof: e.Reason})
	}
}

func (c Cleaner) look(ctx context.Context) (provider.Found, error) {
	found, err := c.Cloud.Look(ctx)
	if err != nil {
		return provider.Found{}, fmt.Errorf("looking at the cloud: %w", err)
	}
	return found, nil
}

// Run deletes the nodes of the bootstrap cluster and the machines in docker first: their controllers would recreate
// resources in the cloud. Then it deletes what is in the cloud, and the rest on this machine. The files come last, only
// if nothing is left that needs them. After the end of ctx it begins no deletion. The receipt is complete whatever the
// error is.
func (c Cleaner) Run(ctx context.Context, plan Plan) (Receipt, error) {
	r := &Receipt{Cluster: plan.Cluster, Deleted: []Result{}, AlreadyGone: []Result{}, Kept: []Result{},
		CouldNot: []Result{}}
	if c.Cloud == nil {
		r.Unknown = plan.Unknown
	}
	if plan.hasBootstrap() { // otherwise that cluster stays, and its lease keeps other runs away
		c.endLease(ctx, clusters.BootstrapName)
	}
	c.local(ctx, r, plan, BootstrapNode)
	plan = c.addLateMachines(ctx, r, plan)
	c.endLease(ctx, clusters.ManagementName)
	c.local(ctx, r, plan, Machine)
	if c.Cloud != nil {
		if controllersLeft(r) {
			r.Unknown = append(r.Unknown,
				NotChecked{Kind: AllOfCloud,
					Reason: "nothing was deleted there: the containers that could not be deleted " +
						"would recreate it"})
		} else if err := c.cloud(ctx, r); err != nil {
			r.Unknown = append(r.Unknown, NotChecked{Kind: AllOfCloud, Reason: err.Error()})
		}
	}
	c.local(ctx, r, plan, Registry, Volume, Image, Network)
	if r.complete() {
		c.local(ctx, r, plan, File)
	} else {
		c.keepFiles(r, plan)
	}
	forceHint := ""
	if !c.Forced {
		forceHint = r.forceHint()
	}
	err := r.err(forceHint)
	if ctx.Err() != nil {
		why, code := ctx.Err(), fault.Interrupted
		if cause := context.Cause(ctx); fault.CodeOf(cause) != fault.Unknown { // a lost lease ended it, not the user
			why, code = cause, fault.CodeOf(cause)
		}
		err = fault.Retryable(errors.Join(why, err), code, "Run the same command again: it resumes."+forceHint)
	}
	return *r, err
}

// endLease stops the renewal of a cluster's lease right before the cluster is deleted. After the end of ctx, such as
// the loss of a lease, it does nothing.
func (c Cleaner) endLease(ctx context.Context, cluster string) {
	if c.Leases != nil && ctx.Err() == nil {
		c.Leases.StopRenewing(clusters.LeasedIn(cluster))
	}
}

// addLateMachines adds the machines that the bootstrap cluster created between the plan and its deletion.
func (c Cleaner) addLateMachines(ctx context.Context, r *Receipt, plan Plan) Plan {
	if c.Cloud != nil || !plan.hasBootstrap() || ctx.Err() != nil {
		return plan
	}
	now, err := Discover(ctx, c.Engine, c.Target)
	if err != nil {
		r.Unknown = append(r.Unknown, NotChecked{Kind: Machine,
			Reason: "what the bootstrap cluster created at its end: " + err.Error()})
		return plan
	}
	plan.Delete = slices.Clone(plan.Delete)
	for _, item := range now.Delete {
		known := func(i Item) bool { return i.Kind == item.Kind && i.Name == item.Name }
		if item.Kind == Machine && !slices.ContainsFunc(plan.Delete, known) {
			plan.Delete = append(plan.Delete, item)
		}
	}
	return plan
}

func controllersLeft(r *Receipt) bool {
	return slices.ContainsFunc(r.CouldNot, func(result Result) bool { return result.Kind == BootstrapNode })
}

// local deletes the items of some kinds on this machine.
func (c Cleaner) local(ctx context.Context, r *Receipt, plan Plan, kinds ...Kind) {
	for _, item := range plan.Delete {
		if !item.Where.here() || !slices.Contains(kinds, item.Kind) {
			continue
		}
		c.record(r, deleteLocal(ctx, c.Engine, plan.Cluster, item))
	}
}

func (c Cleaner) keepFiles(r *Receipt, plan Plan) {
	for _, item := range plan.Delete {
		if item.Kind == File {
			c.record(r, Result{Item: item, Outcome: CouldNot,
				Reason: "it stays until all else is gone: it may be needed to see what is left"})
		}
	}
}

func (c Cleaner) record(r *Receipt, result Result) {
	r.add(result)
	c.notify(result)
}

func (c Cleaner) notify(result Result) {
	if c.OnResult != nil {
		c.OnResult(result)
	}
}

// rounds limits how often the cloud is cleaned up: after that many rounds, a controller is recreating resources.
const rounds = 5

// cloud observes and deletes until nothing of the cluster is left that can be deleted, a round deletes nothing, or the
// limits MadeBefore and rounds are reached.
func (c Cleaner) cloud(ctx context.Context, r *Receipt) error {
	for round := 0; ; round++ {
		found, err := c.look(ctx)
		if err != nil {
			return err
		}
		r.correct(found, func(i Item) bool { return c.stillExists(ctx, i) })
		if len(found.Delete) == 0 {
			return nil
		}
		plan := Plan{}
		plan.add(found)
		if why := plan.TooYoung(c.MadeBefore); why != "" && !c.MadeBefore.IsZero() {
			return fmt.Errorf("%s: is another process recreating the cluster?", why)
		}
		if round == rounds {
			return fmt.Errorf("after %d rounds there is still something new of the cluster: is one of its controllers "+
				"still running?", rounds)
		}
		progress := false
		for _, result := range c.deleteAll(ctx, found.Delete) {
			r.add(result)
			progress = progress || result.Outcome != CouldNot
		}
		if !progress || ctx.Err() != nil {
			return nil
		}
	}
}

// stillExists reports whether the cloud still has a machine that no list has. If the cloud does not answer, the machine
// counts as existing. Other items never do.
func (c Cleaner) stillExists(ctx context.Context, i Item) bool {
	if !i.Machine {
		return false
	}
	_, err := c.Cloud.Going(ctx, provider.Leftover{Kind: string(i.Kind), ID: i.ID})
	return !errors.Is(err, provider.ErrGone)
}
