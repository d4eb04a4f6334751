package lease

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// watched is the lock of an elector, which itself tells nobody why it fails, and only at its deadline that somebody
// else has taken over.
type watched struct {
	resourcelock.Interface
	// taken is called when the lease is somebody else's after it was ours.
	taken func(holder string)

	mu        sync.Mutex
	abandoned bool
	ours      bool
	cause     error // of the last request that failed; nil after one that went well
}

// errAbandoned keeps an elector that ends from giving the lease back.
var errAbandoned = errors.New("the lease ends with its cluster")

// abandon has all requests fail from now on, so that the lease stays as it is.
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

// Get tells when somebody else has the lease.
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

// Create notes why it fails.
func (w *watched) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	err := w.Interface.Create(ctx, r)
	w.note(err)
	return err
}

// Update notes why it fails.
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

// why is the error of the last request; nil if it went well.
func (w *watched) why() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}
