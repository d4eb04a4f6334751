package up

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

func (u *Run) side(c *kube.Cluster) pivot.Side {
	if c == nil {
		return pivot.Side{}
	}
	side := pivot.Side{Client: c.Client, Config: c.Config}
	switch {
	case c.Name == managementName:
		side.Kubeconfig = u.KubeconfigPath
	case u.BootstrapKubeconfig != "":
		side.Kubeconfig = u.BootstrapKubeconfig
	default:
		side.Kubeconfig = u.bootstrapKubeconfigPath()
	}
	return side
}

func (u *Run) scope() pivot.Scope {
	return pivot.Scope{Namespace: u.Environment.ClusterNamespace(), Cluster: u.Environment.ClusterName()}
}

// pivot moves the cluster definitions into the management cluster.
func (u *Run) pivot() pipeline.Phase {
	return pipeline.Phase{
		Name: "pivot", Title: "pivot", Timeout: 10 * time.Minute,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			if !u.found.pivoted {
				return pipeline.Status{}, nil
			}
			if err := u.verifyAgain(ctx); err != nil {
				return pipeline.Status{}, err
			}
			return u.done("the management cluster holds its own definition")
		},
		Run: u.runPivot,
	}
}

// verifyAgain repeats the verification of a move of an earlier run that failed, or that nobody saw the end of.
func (u *Run) verifyAgain(ctx context.Context) error {
	backup, err := pivot.Unverified(u.StateFolder, u.Environment.ClusterName())
	if err != nil || backup == "" {
		return err
	}
	return pivot.VerifyBackup(ctx, u.side(u.found.management), u.scope(), backup)
}

func (u *Run) runPivot(ctx context.Context, report pipeline.Reporter) error {
	if err := u.keepBootstrapKubeconfig(u.found.bootstrap); err != nil {
		return err
	}
	result, err := pivot.Run(ctx, pivot.Input{
		Source: u.side(u.found.bootstrap), Target: u.side(u.found.management), Scope: u.scope(),
		BackupDir: u.StateFolder, Flux: u.suspension(u.found.bootstrap), Move: capi.Move, Now: u.Now, Log: report.Log,
	})
	if err != nil {
		return err
	}
	u.found.pivoted = true
	if result.Already {
		report.Progress("another run has moved it")
		return u.verifyAgain(ctx)
	}
	report.Progress("moved %d objects; their backup is in %s", len(result.Moved), result.Backup)
	return nil
}

// suspension is of what would put back, in the bootstrap cluster, what the move takes away.
func (u *Run) suspension(c *kube.Cluster) rollout.Suspension {
	return rollout.Suspension{Cluster: c, Of: owned.SuspendedFor(u.Environment.ClusterNamespace(), u.Environment.ClusterName())}
}

// selfManagement proves, from the management cluster's own API, that it manages itself.
func (u *Run) selfManagement() pipeline.Phase {
	return pipeline.Phase{
		Name: "self-management", Title: "management cluster manages itself", Timeout: u.Timeout,
		Run: u.awaitSelfManagement,
	}
}

// awaitSelfManagement looks once a second: what counts is one consistent look at all of it, not a series of events.
func (u *Run) awaitSelfManagement(ctx context.Context, report pipeline.Reporter) error {
	goal, err := u.release(environment.Management, true).Goal(managementName, "")
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan error, 1)
	go func() { gone <- rollout.Listen(ctx, u.found.management) }()
	defer func() { cancel(); <-gone }()
	ended, said := gone, u.Now()
	for {
		unmet, err := u.selfManaged(ctx, goal)
		if err == nil && len(unmet) == 0 {
			report.Progress("Cluster and control plane are Available, machines and nodes Ready, all components Ready")
			return nil
		}
		if u.Now().Sub(said) >= u.Heartbeat {
			said = u.Now()
			report.Waiting("the management cluster to manage itself: "+errors.Join(err, unmetError(unmet)).Error(), nil)
		}
		select {
		case err := <-ended:
			gone <- nil
			if err != nil {
				return err
			}
			ended = nil // it ends well only with ctx
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("the management cluster does not manage itself: %w", errors.Join(err, unmetError(unmet), ctx.Err())),
				fault.ComponentStuck, "The bootstrap cluster is kept. Run the same command again to go on.")
		case <-tick.C:
		}
	}
}

// selfManaged gives one look a bound: an API server that hangs must not hold up the look at whether it is gone.
func (u *Run) selfManaged(ctx context.Context, goal rollout.Goal) ([]pivot.Unmet, error) {
	ctx, cancel := context.WithTimeout(ctx, rollout.MaxSilence/3)
	defer cancel()
	return pivot.SelfManaged(ctx, u.found.management, u.scope(), goal.Kustomizations())
}

func unmetError(unmet []pivot.Unmet) error {
	var errs []error
	for _, u := range unmet {
		errs = append(errs, errors.New(u.String()))
	}
	return errors.Join(errs...)
}

// bootstrapRemoval deletes the bootstrap cluster; nothing of the management cluster depends on it any more.
func (u *Run) bootstrapRemoval() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-removal", Title: "delete the bootstrap cluster", Timeout: 5 * time.Minute,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			if u.KeepBootstrap || u.BootstrapKubeconfig != "" {
				return u.done("kept, as asked")
			}
			exists, err := u.bootstrapExists(ctx)
			if err != nil || exists {
				return pipeline.Status{}, err
			}
			return u.done("it is gone")
		},
		Run: u.removeBootstrap,
	}
}

// removeBootstrap looks again right before: what the bootstrap cluster still holds goes with it.
func (u *Run) removeBootstrap(ctx context.Context, _ pipeline.Reporter) error {
	o, err := u.confirm(ctx, pivoted)
	if err != nil {
		return err
	}
	if c := o.bootstrap.cluster; c != nil {
		clusters, err := capi.Clusters(ctx, c, "")
		if err != nil {
			return fmt.Errorf("list the Clusters that the bootstrap cluster still holds: %w", err)
		}
		if stay := othersThan(u.scope(), clusters); len(stay) > 0 {
			return fault.New(fault.PivotRefused, fmt.Sprintf("the bootstrap cluster is kept, as it holds more than %s: %s", u.Environment.ClusterName(), strings.Join(stay, ", ")),
				"Move them to where they are to be managed (clusterctl move), or delete them, and run the same command again; or add --keep-bootstrap.")
		}
	}
	u.Leases.EndWithCluster(where(bootstrapName))
	if err := u.Kind.Delete(ctx, u.BootstrapName()); err != nil {
		return err
	}
	if err := os.Remove(u.bootstrapKubeconfigPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the bootstrap cluster's kubeconfig: %w", err)
	}
	return nil
}

// othersThan names the Clusters that are not what our own pivot leaves paused behind.
func othersThan(ours pivot.Scope, clusters []capi.Cluster) []string {
	var names []string
	for _, c := range clusters {
		if c.Namespace != ours.Namespace || c.Name != ours.Cluster || !c.Paused {
			names = append(names, c.String())
		}
	}
	return names
}
