package lease

import (
	"context"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Set holds the leases of one run, one in each cluster that it works on.
type Set struct {
	end  context.CancelCauseFunc // ends the run's context
	lose context.CancelCauseFunc // ends the context of DetachUntilLost

	mu   sync.Mutex
	held map[string]*Lease
}

// detached is the key of the context that DetachUntilLost returns.
type detached struct{}

// NewSet returns an empty set, and a context that ends when one of its leases is lost, with the reason as its cause, or
// at ReleaseAll. The caller must call ReleaseAll.
func NewSet(ctx context.Context) (context.Context, *Set) {
	var outlasts context.Context
	ctx = context.WithValue(ctx, detached{}, &outlasts) // outlasts derives from ctx: it has this value too
	outlasts, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &Set{end: end, lose: lose, held: map[string]*Lease{}}
}

// DetachUntilLost returns a context for work that must be finished after ctx has ended: after an interrupt, at its
// bound, or when a lease could not be renewed. It ends at ReleaseAll, and when another holder has taken a lease of the
// Set of ctx, with that as its cause. Without a Set it never ends.
func DetachUntilLost(ctx context.Context) context.Context {
	if outlasts, of := ctx.Value(detached{}).(*context.Context); of {
		return *outlasts
	}
	return context.WithoutCancel(ctx)
}

// Lost returns why another run has taken a lease of the Set of ctx, even after this run was interrupted; nil if none
// has. The marks of work in the cluster may then be those of that run.
func Lost(ctx context.Context) error {
	for _, cause := range []error{context.Cause(DetachUntilLost(ctx)), context.Cause(ctx)} {
		if fault.CodeOf(cause) == fault.Busy {
			return cause
		}
	}
	return nil
}

// Take takes the lease that r requests, unless the set has that of r.Where already. A loss of it ends the run, instead
// of a call of r.Lost. waited reports whether another holder had the lease when Take began.
func (s *Set) Take(ctx context.Context, r Request) (waited bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[r.Where] != nil {
		return false, nil
	}
	r.Lost = s.Lose
	say := r.Waiting
	r.Waiting = func(what string) {
		waited = true
		if say != nil {
			say(what)
		}
	}
	l, err := Take(ctx, r)
	if err != nil {
		return waited, err
	}
	s.held[r.Where] = l
	return waited, nil
}

// Lose ends the run because one of its leases is lost. With the code fault.Busy another holder has it.
func (s *Set) Lose(why error) {
	if fault.CodeOf(why) == fault.Busy {
		s.lose(why)
	}
	s.end(why)
}

// StopRenewing lets the lease in a cluster that is about to be deleted end with that cluster. The lease is not renewed,
// and its loss is no error. It is not given back, so that no other run takes it while the cluster still answers.
func (s *Set) StopRenewing(where string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.held[where]; l != nil {
		l.StopRenewing()
		delete(s.held, where)
	}
}

// ReleaseAll gives all leases back.
func (s *Set) ReleaseAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for where, l := range s.held {
		l.Release()
		delete(s.held, where)
	}
	s.end(nil)
	s.lose(nil)
}
