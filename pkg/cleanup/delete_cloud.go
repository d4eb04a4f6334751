package cleanup

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const (
	parallelCalls = 8
	callTimeout   = 30 * time.Second
	firstPause    = 500 * time.Millisecond // between two calls for one leftover; it grows up to longestPause
	longestPause  = 5 * time.Second
)

// deletion deletes many leftovers in parallel. Each is deleted as soon as nothing uses it any more.
type deletion struct {
	Cleaner
	calls        chan struct{} // limits the calls in flight
	mu           sync.Mutex
	lastProgress time.Time // when the last leftover was gone
}

// pending is one leftover in a deletion. Its result may be read after done is closed.
type pending struct {
	provider.Leftover
	item   Item
	users  []*pending
	done   chan struct{}
	result Result
}

func (c Cleaner) deleteAll(ctx context.Context, leftovers []provider.Leftover) []Result {
	d := &deletion{Cleaner: c, calls: make(chan struct{}, parallelCalls), lastProgress: time.Now()}
	all := inOrder(leftovers)
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() {
			defer close(p.done)
			p.result = d.deleteOne(ctx, p)
			c.notify(p.result)
		})
	}
	running.Wait()
	results := make([]Result, 0, len(all))
	for _, p := range all {
		results = append(results, p.result)
	}
	return results
}

// inOrder adds to each leftover those that must be deleted before it.
func inOrder(leftovers []provider.Leftover) []*pending {
	byID := map[string]*pending{}
	all := make([]*pending, 0, len(leftovers))
	for _, l := range leftovers {
		p := &pending{Leftover: l, item: itemOf(l), done: make(chan struct{})}
		byID[l.ID], all = p, append(all, p)
	}
	for _, p := range all {
		for _, used := range slices.Concat(p.Uses, p.ProvenBy) {
			if u := byID[used]; u != nil && !slices.Contains(u.users, p) {
				u.users = append(u.users, p)
			}
		}
	}
	return all
}

// deleteOne deletes one leftover, after those that use it.
func (d *deletion) deleteOne(ctx context.Context, p *pending) Result {
	withUser := false // deleted together with a user that it is a part of
	for _, user := range p.users {
		<-user.done
		if user.result.Outcome == CouldNot && !(user.result.Released && !slices.Contains(user.ProvenBy, p.ID)) {
			return Result{Item: p.item, Outcome: CouldNot, Reason: user.Kind + " " + user.Name + ", " +
				waitReason(user, p) + ", is still there"}
		}
		withUser = withUser || user.result.Outcome == Deleted && p.PartOf == user.ID
	}
	accepted, err := d.untilGone(ctx, p.Leftover)
	switch {
	case err == nil:
		d.progress()
		if accepted || withUser {
			return Result{Item: p.item, Outcome: Deleted}
		}
		return Result{Item: p.item, Outcome: AlreadyGone}
	case ctx.Err() != nil && accepted:
		return Result{Item: p.item, Outcome: CouldNot, Reason: "interrupted while it was going"}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return Result{Item: p.item, Outcome: CouldNot, Reason: interruptedBefore}
	}
	if errors.Is(err, provider.ErrForbidden) {
		return d.forbidden(ctx, p, err)
	}
	return Result{Item: p.item, Outcome: CouldNot, Reason: err.Error()}
}

// forbidden returns the result of a leftover that only an administrator can delete. It releases what the leftover uses,
// so that the rest can be deleted.
func (d *deletion) forbidden(ctx context.Context, p *pending, err error) Result {
	result := Result{Item: p.item, Outcome: CouldNot, Reason: err.Error(), Forbidden: true}
	releaser, can := d.Cloud.(provider.Releaser)
	if !can {
		return result
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	released, err := releaser.Release(ctx, p.Leftover)
	if err != nil {
		result.Reason += "; nor can it be disassociated: " + err.Error()
	}
	result.Released = released && err == nil
	return result
}

// waitReason returns why a leftover waits for one that uses it.
func waitReason(user, used *pending) string {
	if slices.Contains(user.ProvenBy, used.ID) {
		return "which it proves to be the cluster's"
	}
	return "which uses it"
}

// untilGone requests the deletion until the leftover is gone. It retries while anything in this deletion makes
// progress. accepted reports whether this run may have deleted it.
func (d *deletion) untilGone(ctx context.Context, l provider.Leftover) (accepted bool, err error) {
	going := false // the cloud accepted the last request and is working on it
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		gone, err := d.call(ctx, l, &going)
		accepted = accepted || going
		switch {
		case gone:
			return true, nil
		case errors.Is(err, provider.ErrGone): // a call without a response may have deleted it
			return accepted || pause > firstPause, nil
		case err != nil && !fault.CanRetry(err):
			return accepted, err
		case d.stalled():
			if err == nil {
				err = errors.New("the cloud accepted the deletion and does not come to an end with it")
			}
			return accepted, err
		}
		select {
		case <-ctx.Done():
			return accepted, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// call makes one call: a deletion, or a check of its progress. An interrupt does not cancel the call, so that its
// outcome is known.
func (d *deletion) call(ctx context.Context, l provider.Leftover, going *bool) (gone bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case d.calls <- struct{}{}:
		defer func() { <-d.calls }()
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if !*going {
		gone, err = d.Cloud.Delete(ctx, l)
		*going = err == nil && !gone
		return gone && err == nil, err
	}
	stillGoing, err := d.Cloud.Going(ctx, l)
	*going = stillGoing || err != nil // else the deletion failed: request it again
	return false, err
}

func (d *deletion) progress() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastProgress = time.Now()
}

// stalled reports whether nothing was deleted for too long.
func (d *deletion) stalled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.lastProgress) > d.Patience
}
