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

// MaxSilence is how long a followed API server may fail to answer. One that restarts or is replaced is back sooner.
// Including the last request, the wait ends within a minute.
const MaxSilence = 50 * time.Second

// questions is how often the API server is checked during MaxSilence.
const questions = 12

// helps is how often Unanswered may be called during MaxSilence: it can list a whole project of a cloud.
const helps = 6

// Listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server of a
// cluster gave no answer for too long. unanswered is that of Options.
func Listen(ctx context.Context, c *kube.Cluster, unanswered func(ctx context.Context,
	joined []string) bool) error {
	return Follower{cluster: c, silence: MaxSilence, unanswered: unanswered}.listen(ctx)
}

// listen returns nil when ctx ends, and an error with the code fault.ClusterUnreachable when the API server gave no
// answer for too long: a watch alone retries for ever, and the wait would blame its goals.
func (f Follower) listen(ctx context.Context) error {
	if f.silence == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(f.silence / questions)
	defer tick.Stop()
	heard := time.Now()
	served, helped := heard, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := f.answers(ctx)
		// "not ready" is an answer too: the server may only need time, or an address that is at another machine
		_, refused := errors.AsType[*apierrors.StatusError](err)
		if err == nil || refused {
			heard = time.Now()
		}
		if err == nil {
			served = heard
			continue
		}
		lasting := time.Since(served) >= f.silence/2 // a single lost answer is not enough
		if lasting && f.unanswered != nil && time.Since(helped) >= f.silence/helps {
			if f.unanswered(ctx, f.joined.names()) {
				heard, served = time.Now(), time.Now()
				continue
			}
			helped = time.Now()
		}
		if silence := time.Since(heard); ctx.Err() == nil && silence >= f.silence {
			return fault.Retryable(fmt.Errorf("the %s cluster has not answered for %s: %w", f.cluster.Name,
				silence.Round(time.Second), err), fault.ClusterUnreachable,
				"Check that its machine or container is running (docker ps -a), and run the same command again.")
		}
	}
}

// answers sends one request, which may take until the next one is due: a server that hangs is as silent as one that is
// gone.
func (f Follower) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.silence/questions)
	defer cancel()
	return f.cluster.Reachable(ctx)
}
