package event

import "sync"

// Recorder is a Sink that keeps all events, for tests and for views that need the whole run.
type Recorder struct {
	mu     sync.Mutex
	events []Event
}

// Emit keeps e.
func (r *Recorder) Emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns a copy of the events so far, in order.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Event(nil), r.events...)
}

// Tee is a Sink that hands every event to each of its members in order.
type Tee []Sink

// Emit hands e to each member.
func (t Tee) Emit(e Event) {
	for _, s := range t {
		s.Emit(e)
	}
}
