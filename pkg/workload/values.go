package workload

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// settle returns the environment as it is applied: with what the cluster was last given and the shell of this run has
// no say in, and with what the management cluster was given for their common place.
func (c Cluster) settle(ctx context.Context) (*environment.Environment, error) {
	env := c.Environment
	names, err := env.Objects()
	if err != nil {
		return nil, fmt.Errorf("render the values of workload cluster %s: %w", c.Key(), err)
	}
	last, err := rollout.ReadValues(ctx, c.Management, names)
	if err == nil {
		env, _, err = env.Keep(last, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("read the values that workload cluster %s was last given: %w", c.Key(), err)
	}
	place, err := rollout.LastAppliedValues(ctx, c.Management)
	if err == nil {
		env, err = env.Inherit(place)
	}
	if err != nil {
		return nil, fmt.Errorf("read the values of the management cluster %s: %w", c.Self, err)
	}
	return env.WithFingerprintKey()
}
