package render

import (
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Queue is a Sink before a view that writes to somebody who may stop reading, such as a terminal after Ctrl-S or the
// reader of a pipe: the run goes on. From the event that begins a run to the one that ends it, events are kept in
// order, without a bound, until the view has taken them; before and after, Emit returns when the view has taken the
// event.
type Queue struct {
	view     event.Sink
	patience time.Duration

	mu        sync.Mutex
	waiting   []event.Event
	run       *queuedRun // nil: none is under way
	abandoned bool       // the view took nothing any more: it gets nothing any more
}

// queuedRun is the goroutine that hands the events of a run to the view. Emit of the event that ends the run waits for
// it.
type queuedRun struct {
	ending bool          // the event that ends the run is in the queue
	wake   chan struct{} // something is in the queue
	taken  chan struct{} // the view has taken an event
	done   chan struct{} // closed at the end of the goroutine
}

// NewQueue returns a Queue before a view. patience is how long the end of a run waits for the view to take one more
// event. When it takes none, what is left is given up: nobody reads it.
func NewQueue(view event.Sink, patience time.Duration) *Queue {
	return &Queue{view: view, patience: patience}
}

// Emit takes e. The one that ends a run returns when the view has taken all, or was given up.
func (q *Queue) Emit(e event.Event) {
	run, direct := q.put(e)
	switch {
	case direct:
		q.view.Emit(e)
	case run != nil && e.Type == event.RunFinished:
		q.end(run)
	}
}

// put puts e into the queue of the run under way; direct: there is none, and the view is to be given e itself.
func (q *Queue) put(e event.Event) (_ *queuedRun, direct bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.abandoned {
		return nil, false
	}
	if q.run == nil && e.Type == event.RunStarted {
		q.run = &queuedRun{wake: make(chan struct{}, 1), taken: make(chan struct{}, 1), done: make(chan struct{})}
		go q.deliver(q.run)
	}
	if q.run == nil {
		return nil, true
	}
	q.waiting = append(q.waiting, e)
	q.run.ending = q.run.ending || e.Type == event.RunFinished
	signal(q.run.wake)
	return q.run, false
}

// deliver hands the view one event after the other, until the last of the run.
func (q *Queue) deliver(run *queuedRun) {
	defer close(run.done)
	for {
		e, is, over := q.next(run)
		switch {
		case is:
			q.view.Emit(e)
			signal(run.taken)
		case over:
			return
		default:
			<-run.wake
		}
	}
}

// next takes the first event out of the queue. over: there is none, and none will come.
func (q *Queue) next(run *queuedRun) (e event.Event, is, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		e, q.waiting = q.waiting[0], q.waiting[1:]
		return e, true, false
	}
	if run.ending {
		q.run = nil
	}
	return event.Event{}, false, run.ending
}

// end waits until the view has taken all of the run, as long as it takes anything.
func (q *Queue) end(run *queuedRun) {
	timer := time.NewTimer(q.patience)
	defer timer.Stop()
	for {
		select {
		case <-run.done:
			return
		case <-run.taken:
			timer.Reset(q.patience)
		case <-timer.C:
			q.mu.Lock()
			q.abandoned, q.waiting = true, nil
			q.mu.Unlock()
			return
		}
	}
}

// signal wakes up what waits on c. One signal is enough, however often it is given.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
