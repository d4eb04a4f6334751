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

// MaxSilence is how long an API server that is followed may give no answer. One that restarts, or is replaced, is back
// sooner. With the last question, the wait ends within a minute.
const MaxSilence = 50 * time.Second

// questions are how often an API server is asked within the time that it may be silent.
const questions = 12

// Listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server of a
// cluster gave no answer for too long.
func Listen(ctx context.Context, c *kube.Cluster) error {
	return Follower{cluster: c, silence: MaxSilence}.listen(ctx)
}

// listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server gave no
// answer for too long: a watch alone goes on trying, and what it waits for would be blamed.
func (f Follower) listen(ctx context.Context) error {
	if f.silence == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(f.silence / questions)
	defer tick.Stop()
	heard := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := f.answers(ctx)
		// "not ready" is an answer too
		if _, refused := errors.AsType[*apierrors.StatusError](err); err == nil || refused {
			heard = time.Now()
			continue
		}
		if silence := time.Since(heard); ctx.Err() == nil && silence >= f.silence {
			return fault.Retryable(fmt.Errorf("the %s cluster has given no answer for %s: %w", f.cluster.Name,
				silence.Round(time.Second), err), fault.ClusterUnreachable,
				"See whether what it runs on is up (docker ps -a), and run the same command again.")
		}
	}
}

// answers asks once, for no longer than until the next question is due: a server that hangs is as silent as one that is
// gone.
func (f Follower) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.silence/questions)
	defer cancel()
	return f.cluster.Reachable(ctx)
}
