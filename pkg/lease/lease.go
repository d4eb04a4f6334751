// Package lease keeps two runs on different machines from working on one cluster: each holds a Lease in that cluster
// and renews it while it runs.
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// namespace exists in every cluster.
const namespace = "kube-system"

// Timing is the timing of a lease.
type Timing struct {
	// Duration is how long a lease lasts without renewal.
	Duration time.Duration
	// Deadline is how long its own holder keeps it without an answer. It is shorter than Duration, so that two runs
	// never hold it.
	Deadline time.Duration
	// Retry is the interval of renewals.
	Retry time.Duration
}

// DefaultTiming survives an API server that moves to another machine, and keeps the wait after a crash short.
func DefaultTiming() Timing {
	return Timing{Duration: 90 * time.Second, Deadline: 60 * time.Second, Retry: 5 * time.Second}
}

// Name is the name of the Lease of the management cluster namespace/cluster.
func Name(clusterNamespace, cluster string) string {
	return "cluster-init." + clusterNamespace + "." + cluster
}

// InstallName is the name of the Lease of `install` and `uninstall`, for any management cluster: a cluster has one
// release, and the leases of two environments have different names.
const InstallName = "cluster-init.install"

// SharedName is the name of the Lease of all workload clusters with one name, for infrastructure providers that know
// the resources of a cluster by its name alone. No Name equals it: that has two dots.
func SharedName(cluster string) string { return "cluster-init.name-" + cluster }

// Lease is a held lease.
type Lease struct {
	cancel context.CancelFunc
	lock   *watched
	ended  chan struct{}
}

// Request specifies a lease and its holder.
type Request struct {
	Config *rest.Config // of the cluster that it is in
	Where  string       // the name of that cluster, for people
	Name   string
	Holder string
	Timing Timing
	// Waiting is called when the run must wait to see whether another holder still lives. Nil means no report.
	Waiting func(what string)
	// Forced allows a takeover from a holder that renews the lease, or that gave no sign of life for twice
	// Timing.Retry. It is called with an error that describes that holder. Nil means that Take refuses a renewed lease,
	// and waits for any other to expire.
	Forced func(busy error)
	// Lost is called when another holder has the lease, or when no request succeeded for Timing.Deadline.
	Lost func(error)
}

// Take takes a lease. It refuses a lease that its holder renews, with the code fault.Busy, unless Request.Forced is
// set. It takes over a lease that was not renewed for its duration. ctx bounds the taking alone: the lease is renewed
// until Release or StopRenewing.
func Take(ctx context.Context, r Request) (*Lease, error) {
	lock, err := r.lock()
	if err != nil {
		return nil, err
	}
	look, err := r.lock() // separate: a lock remembers what it has read
	if err != nil {
		return nil, err
	}
	w := &watched{Interface: lock, taken: func(holder string) { r.Lost(r.takenBy(holder)) }}
	l := &Lease{lock: w, ended: make(chan struct{})}
	leading := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: w, LeaseDuration: r.Timing.Duration, RenewDeadline: r.Timing.Deadline, RetryPeriod: r.Timing.Retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leading) },
			OnStoppedLeading: func() {}},
	})
	if err != nil {
		return nil, fmt.Errorf("take the Lease %s/%s in %s: %w", namespace, r.Name, r.Where, err)
	}
	var renewing context.Context
	renewing, l.cancel = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.Discard()))
	go func() {
		defer close(l.ended)
		elector.Run(renewing)
		if renewing.Err() == nil {
			r.Lost(r.lost(elector.GetLeader(), w.why()))
		}
	}()
	if err := r.await(ctx, look, w, leading, l.ended); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// lock is the Lease in the form of the leader election library.
func (r Request) lock() (resourcelock.Interface, error) {
	config := rest.CopyConfig(r.Config)
	config.Timeout = 2 * r.Timing.Retry // a hanging request must not use up the deadline
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for the Lease of %s: %w", r.Where, err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: r.Name}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: r.Holder},
	}, nil
}

// await returns once the lease is taken, or why it cannot be. With r.Forced it steals the lease of another holder.
func (r Request) await(ctx context.Context, lock resourcelock.Interface, w *watched, leading,
	ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timing.Duration+r.Timing.Deadline)
	defer cancel()
	look := time.NewTicker(r.Timing.Retry / 2)
	defer look.Stop()
	var first *resourcelock.LeaderElectionRecord
	var since time.Time       // when first was read
	var seen <-chan time.Time // nil: the lease was not stolen
	for {
		record, _, err := lock.Get(ctx)
		switch {
		case isRefusal(err), isRefusal(w.why()):
			return r.refused(errors.Join(err, w.why()))
		case err == nil && record.HolderIdentity != "" && record.HolderIdentity != r.Holder:
			if first == nil {
				first, since = record, time.Now()
				r.wait(record, r.Timing.Duration)
			}
			lives := *record != *first
			if lives && r.Forced == nil {
				return r.busy(record)
			}
			if r.Forced == nil || !lives && time.Since(since) < 2*r.Timing.Retry {
				break
			}
			err := r.steal(ctx, lock, *record)
			if isRefusal(err) {
				return r.refused(err)
			}
			if err == nil { // otherwise it was renewed in between, or the request failed: retry
				r.Forced(r.describeHolder(record, lives))
				seen = time.After(2 * r.Timing.Retry)
			}
		}
		select {
		case <-leading:
			return awaitSeen(ctx, seen)
		case <-ended:
			return fault.Retryable(fmt.Errorf("the Lease %s/%s in %s was taken and lost at once", namespace, r.Name,
				r.Where), fault.Busy, hintBusy)
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("take the Lease %s/%s in %s: %w", namespace, r.Name, r.Where,
				errors.Join(ctx.Err(), err, w.why())), fault.ClusterUnreachable,
				"Run the same command again once the cluster answers.")
		case <-look.C:
		}
	}
}

// steal writes r.Holder into the lease. It fails if the previous holder has renewed it since lock read its record.
func (r Request) steal(ctx context.Context, lock resourcelock.Interface,
	record resourcelock.LeaderElectionRecord) error {
	record.HolderIdentity, record.LeaseDurationSeconds = r.Holder, int(r.Timing.Duration/time.Second)
	record.AcquireTime, record.LeaderTransitions = metav1.Now(), record.LeaderTransitions+1
	record.RenewTime = record.AcquireTime
	return lock.Update(ctx, record)
}

// awaitSeen gives a living previous holder time to notice the loss and to stop its work. Nil means that the lease was
// not stolen.
func awaitSeen(ctx context.Context, seen <-chan time.Time) error {
	if seen == nil {
		return nil
	}
	select {
	case <-seen:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const hintBusy = "Wait for that run to end, or stop it there with Ctrl-C. Then run the same command again."

func (r Request) wait(record *resourcelock.LeaderElectionRecord, limit time.Duration) {
	if r.Waiting != nil {
		r.Waiting(fmt.Sprintf("whether %s, which has held the lock on %s since %s, still runs (at most %s)",
			record.HolderIdentity, r.Where, begun(record), limit))
	}
}

func (r Request) busy(record *resourcelock.LeaderElectionRecord) error {
	return fault.Retryable(fmt.Errorf("%s holds the lock on %s, since %s", record.HolderIdentity, r.Where,
		begun(record)),
		fault.Busy, hintBusy)
}

// describeHolder describes the holder of a record for Forced.
func (r Request) describeHolder(record *resourcelock.LeaderElectionRecord, lives bool) error {
	if lives {
		return r.busy(record)
	}
	return fmt.Errorf("%s has held the lock on %s since %s, and has given no sign of life for %s",
		record.HolderIdentity,
		r.Where, begun(record), 2*r.Timing.Retry)
}

func begun(record *resourcelock.LeaderElectionRecord) string {
	return record.AcquireTime.Local().Format("2006-01-02 15:04:05")
}

// isRefusal reports whether a retry cannot help.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err)
}

func (r Request) refused(err error) error {
	return fault.Wrap(fmt.Errorf("take the Lease %s/%s in %s: %w", namespace, r.Name, r.Where, err),
		fault.ClusterUnreachable,
		"Allow get, create and update of leases, which keep two runs apart, in the namespace "+namespace+".")
}

func (r Request) takenBy(holder string) error {
	return fault.Retryable(fmt.Errorf("%s has taken over the lock on %s", holder, r.Where), fault.Busy, hintBusy)
}

func (r Request) lost(leader string, cause error) error {
	if leader != "" && leader != r.Holder {
		return r.takenBy(leader)
	}
	if cause == nil {
		cause = errors.New("no answer")
	}
	return fault.Retryable(fmt.Errorf("the Lease %s/%s in %s could not be renewed for %s: %w", namespace, r.Name,
		r.Where, r.Timing.Deadline, cause),
		fault.ClusterUnreachable, "Run the same command again once its API server answers.")
}

// Release gives the lease back, and returns once nothing renews it.
func (l *Lease) Release() {
	l.cancel()
	<-l.ended
}

// StopRenewing stops the renewal without giving the lease back: until it expires, another holder can take it only with
// Request.Forced. Lost is not called any more.
func (l *Lease) StopRenewing() {
	l.lock.abandon()
	l.Release()
}
