package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// MaxSilence is how long an API server that is followed may give no answer. One that restarts, or is replaced, is back sooner.
const MaxSilence = time.Minute

// Listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server of a cluster gave no answer for
// too long.
func Listen(ctx context.Context, c *kube.Cluster) error {
	return Follower{cluster: c, silence: MaxSilence}.listen(ctx)
}

// listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server gave no answer for too long: a
// watch alone goes on trying, and what it waits for would be blamed.
func (f Follower) listen(ctx context.Context) error {
	if f.silence == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(f.silence / 12)
	defer tick.Stop()
	heard := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := f.cluster.Reachable(ctx)
		if _, refused := errors.AsType[*apierrors.StatusError](err); err == nil || refused { // "not ready" is an answer too
			heard = time.Now()
			continue
		}
		if silence := time.Since(heard); ctx.Err() == nil && silence >= f.silence {
			return fault.Retryable(fmt.Errorf("the %s cluster has given no answer for %s: %w", f.cluster.Name, silence.Round(time.Second), err), fault.ClusterUnreachable,
				"See whether what it runs on is up (docker ps -a), and run the same command again.")
		}
	}
}
