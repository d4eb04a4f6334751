package render

import (
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Queue is a Sink before a view whose reader may pause, such as a terminal after Ctrl-S or a pipe. A run never blocks
// on it: during a run, events are buffered in order and without a limit. Before and after, Emit returns when the view
// has taken the event.
type Queue struct {
	view     event.Sink
	patience time.Duration

	mu        sync.Mutex
	waiting   []event.Event
	run       *queuedRun // nil if there is none
	abandoned bool       // the view is blocked and gets no more events
}

// queuedRun is the goroutine that passes the events of a run to the view. Emit of the last event waits for it.
type queuedRun struct {
	ending bool          // the event that ends the run is in the queue
	wake   chan struct{} // something is in the queue
	taken  chan struct{} // the view has taken an event
	done   chan struct{} // closed at the end of the goroutine
}

// NewQueue returns a Queue before a view. patience is how long the end of a run waits for the view to take another
// event. After that the rest is dropped.
func NewQueue(view event.Sink, patience time.Duration) *Queue {
	return &Queue{view: view, patience: patience}
}

// Emit takes e. For the last event of a run it returns when the view has taken all events, or patience is over.
func (q *Queue) Emit(e event.Event) {
	run, direct := q.put(e)
	switch {
	case direct:
		q.view.Emit(e)
	case run != nil && e.Type == event.RunFinished:
		q.end(run)
	}
}

// put adds e to the queue of the current run. direct reports that there is none, so that the view must take e itself.
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

// deliver passes events to the view until the last one of the run.
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

// next takes the first event from the queue. over reports that the queue is empty and complete.
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

// end waits until the view has taken all events. It gives up when the view has taken none for patience.
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

// signal wakes the receiver of c. Repeated signals count once.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
