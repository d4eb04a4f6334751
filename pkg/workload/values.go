package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// settled is an environment as it is applied, and how it differs from what the cluster was last given.
type settled struct {
	environment *environment.Environment
	kept        []environment.Kept
	changes     []environment.Change
}

// settle returns the environment as it is applied. A value that once came from the shell stays as the cluster was last
// given it. Values for the place that it shares with the management cluster come from that.
func (c Cluster) settle(ctx context.Context) (settled, error) {
	s := settled{environment: c.Environment}
	names, err := c.Environment.Objects()
	if err != nil {
		return s, fmt.Errorf("render the values of workload cluster %s: %w", c.Key(), err)
	}
	last, err := rollout.ReadValues(ctx, c.Management, names)
	if last.Values != nil && last.Values.Labels[Label] != c.Key().Name {
		last = environment.Objects{} // of another owner: checkForeign refuses it
	}
	if err == nil {
		s.environment, s.kept, err = s.environment.Keep(last, c.AllowChanges)
	}
	if err != nil {
		return s, fmt.Errorf("read the last applied values of workload cluster %s: %w", c.Key(), err)
	}
	place, err := rollout.LastAppliedValues(ctx, c.Management)
	if err == nil {
		s.environment, err = s.environment.Inherit(place)
	}
	if err != nil {
		return s, fmt.Errorf("read the values of the management cluster %s: %w", c.Self, err)
	}
	if last.Values == nil {
		if err := s.environment.CheckNewAuthorities(time.Now()); err != nil {
			return s, err
		}
	}
	if last.Values != nil {
		if s.changes, err = s.environment.Changes(last); err != nil {
			return s, fmt.Errorf("compare with the last applied values of workload cluster %s: %w", c.Key(), err)
		}
		if err := rollout.RefuseUnfinishedKeys(ctx, c.Management, s.environment, last, s.changes); err != nil {
			return s, err
		}
	}
	s.environment, err = s.environment.WithFingerprintKey()
	return s, err
}

// checkChanges reports how the values differ from those that the cluster was last given. It refuses what would remove,
// replace or downgrade a part of the cluster, unless the user allowed it. It returns the environment as it is applied.
func (c Cluster) checkChanges(ctx context.Context, report pipeline.Reporter) (*environment.Environment, error) {
	s, err := c.settle(ctx)
	if err != nil {
		return nil, err
	}
	for _, kept := range s.kept {
		report.Progress("%s", kept)
	}
	for _, change := range s.changes {
		report.Progress("changed since the last run: %s", change)
	}
	return s.environment, environment.RefuseRemovals(s.changes, c.AllowChanges)
}
