package pipeline

import (
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// heartbeat reports that a phase still runs whenever the phase had no event for some time.
type heartbeat struct {
	out     func(event.Event)
	heard   chan struct{}
	end     chan struct{}
	stopped chan struct{}
}

func (r Runner) startHeartbeat(p Phase, out func(event.Event)) *heartbeat {
	h := &heartbeat{out: out, heard: make(chan struct{}, 1), end: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(h.stopped)
		if r.Heartbeat <= 0 {
			return
		}
		beat := time.NewTicker(r.Heartbeat)
		defer beat.Stop()
		for {
			select {
			case <-h.end:
				return
			case <-h.heard:
				beat.Reset(r.Heartbeat)
			case <-beat.C:
				out(event.Event{Type: event.Waiting, Message: p.Title})
			}
		}
	}()
	return h
}

// emit passes e on. Lines of libraries show only with --verbose, so they do not reset the heartbeat.
func (h *heartbeat) emit(e event.Event) {
	h.out(e)
	if e.Type == event.Log {
		return
	}
	select {
	case h.heard <- struct{}{}:
	default: // the last signal is still pending
	}
}

// stop ends the heartbeat, and returns after its last event.
func (h *heartbeat) stop() {
	close(h.end)
	<-h.stopped
}
