package lease

import (
	"context"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Set is the leases of one run, one in each cluster that it works on.
type Set struct {
	end  context.CancelCauseFunc // of the run's context
	lose context.CancelCauseFunc // of what outlasts it

	mu   sync.Mutex
	held map[string]*Lease
}

// detached is the key of the context that UntilTakenOver returns.
type detached struct{}

// NewSet returns a set without leases, and a context that ends, with the reason as its cause, when one of them is lost.
// Whoever calls it calls ReleaseAll.
func NewSet(ctx context.Context) (context.Context, *Set) {
	var outlasts context.Context
	ctx = context.WithValue(ctx, detached{}, &outlasts) // which has it too
	outlasts, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &Set{end: end, lose: lose, held: map[string]*Lease{}}
}

// DetachUntilLost returns a context for what must be finished also when ctx has ended, by an interrupt or its bound, or
// as a lease could not be renewed for a while: it ends only when somebody else has taken a lease of the Set that ctx is
// of, with that as its cause. Without a Set it never ends.
func DetachUntilLost(ctx context.Context) context.Context {
	if outlasts, of := ctx.Value(detached{}).(*context.Context); of {
		return *outlasts
	}
	return context.WithoutCancel(ctx)
}

// Take takes the lease that r asks for, unless the set has that of r.Where already. waited is whether somebody else had
// it until now.
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

// Lose ends the run: one of its leases is lost, for the reason why. With the code fault.Busy somebody else has it.
func (s *Set) Lose(why error) {
	if fault.CodeOf(why) == fault.Busy {
		s.lose(why)
	}
	s.end(why)
}

// StopRenewing has the lease in one cluster, if it is held, end with that cluster, whose deletion begins: it is not
// renewed any more, its loss is no error, and it is not given back, so that nobody else takes it while the cluster
// still answers.
func (s *Set) StopRenewing(where string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.held[where]; l != nil {
		l.StopRenewing()
		delete(s.held, where)
	}
}

// ReleaseAll gives all of them back.
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
