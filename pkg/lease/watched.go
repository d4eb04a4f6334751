package lease

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// watched is the lock of an elector. The elector itself does not report why a request fails, and reports another holder
// only at its deadline.
type watched struct {
	resourcelock.Interface
	// taken is called when another holder has the lease that was ours.
	taken func(holder string)

	mu        sync.Mutex
	abandoned bool
	ours      bool
	cause     error // the error of the last request that was sent, or nil
}

// errAbandoned keeps an elector from giving the lease back when it ends.
var errAbandoned = errors.New("the lease ends with its cluster")

// abandon makes all later reads and updates fail, so that the lease stays as it is.
func (w *watched) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abandoned = true
}

func (w *watched) isAbandoned() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.abandoned
}

// Get reports when another holder has the lease that was ours.
func (w *watched) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if w.isAbandoned() {
		return nil, nil, errAbandoned
	}
	record, raw, err := w.Interface.Get(ctx)
	w.note(err)
	if err != nil {
		return record, raw, err
	}
	w.mu.Lock()
	was := w.ours
	w.ours = record.HolderIdentity == w.Identity()
	lost := was && !w.ours && !w.abandoned
	w.mu.Unlock()
	if lost {
		w.taken(record.HolderIdentity)
	}
	return record, raw, err
}

// Create records its error.
func (w *watched) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	err := w.Interface.Create(ctx, r)
	w.note(err)
	return err
}

// Update records its error.
func (w *watched) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if w.isAbandoned() {
		return errAbandoned
	}
	err := w.Interface.Update(ctx, r)
	w.note(err)
	w.mu.Lock()
	w.ours = w.ours || err == nil && r.HolderIdentity == w.Identity()
	w.mu.Unlock()
	return err
}

func (w *watched) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause = err
}

// why returns the error of the last request that was sent, or nil.
func (w *watched) why() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}
