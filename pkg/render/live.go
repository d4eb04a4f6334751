package render

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Live shows a run on a terminal: what has happened scrolls by, as in Plain; below it stands what is under way, with
// what it waits for, painted anew as it changes.
type Live struct {
	screen  *Screen
	colours bool
	now     func() time.Time
	tick    func() (ticks <-chan time.Time, stop func())

	mu       sync.Mutex
	plain    *Plain // writes into lines
	lines    bytes.Buffer
	phase    *phaseUnderWay // nil: none
	underWay map[string]*objectUnderWay
	left     time.Duration // of the run, as it was painted last; 0: it never was
	painting chan struct{} // closed to end the goroutine that paints the time; nil: there is none
	painter  sync.WaitGroup
}

// phaseUnderWay is the phase that a run is in.
type phaseUnderWay struct {
	title     string
	begun     time.Time
	remaining time.Duration // of the run, at `at`; 0: nobody knows
	at        time.Time
	ahead     []string // titles of the phases that come after it
	delay     *event.Delay
}

// objectUnderWay is an object that is awaited.
type objectUnderWay struct {
	event.Object
	since time.Time
}

// LiveOptions are those of a Live view.
type LiveOptions struct {
	Verbose bool
	Colours bool
	Now     func() time.Time
	// Tick makes what repaints the time, and what stops it; nil: once a second.
	Tick func() (ticks <-chan time.Time, stop func())
}

// NewLive returns a Live view on a screen. It paints from the event that begins a run to the one that ends it.
func NewLive(screen *Screen, o LiveOptions) *Live {
	l := &Live{screen: screen, colours: o.Colours, now: o.Now, tick: o.Tick, underWay: map[string]*objectUnderWay{}}
	if l.tick == nil {
		l.tick = func() (<-chan time.Time, func()) {
			t := time.NewTicker(time.Second)
			return t.C, t.Stop
		}
	}
	l.plain = NewPlain(&l.lines, o.Verbose)
	return l
}

// Emit shows e. A terminal that cannot be written to any more stops nothing: whoever gave it knows.
func (l *Live) Emit(e event.Event) {
	l.mu.Lock()
	l.take(e)
	if e.Type != event.Waiting && e.Type != event.PhaseStarted { // those stand in the block
		l.plain.Emit(e)
	}
	above := l.coloured(oneline.Lines(l.lines.String()))
	l.lines.Reset()
	if above != "" {
		_ = l.screen.Own(above)
	}
	_ = l.screen.Paint(l.block())
	ended := e.Type == event.RunFinished && l.painting != nil
	if ended {
		close(l.painting)
		l.painting = nil
	}
	l.mu.Unlock()
	if ended {
		l.painter.Wait()
	}
}

// take learns from e what is under way.
func (l *Live) take(e event.Event) {
	switch e.Type {
	case event.RunStarted:
		l.left = 0
		l.begin()
	case event.PhaseStarted:
		l.phase = &phaseUnderWay{title: e.Title, begun: e.Time, remaining: e.Remaining, at: e.Time, ahead: e.Ahead}
		clear(l.underWay)
	case event.PhaseFinished, event.PhaseSkipped, event.PhaseFailed, event.RunFinished:
		l.phase = nil
		clear(l.underWay)
	case event.ObjectChanged:
		l.object(*e.Object, e.Time)
	case event.Waiting:
		l.waiting(e)
	}
}

// begin starts to paint the time.
func (l *Live) begin() {
	if l.painting != nil {
		return
	}
	ticks, stop := l.tick()
	painting := make(chan struct{})
	l.painting = painting
	l.painter.Go(func() {
		defer stop()
		for {
			select {
			case <-painting:
				return
			case <-ticks:
				l.mu.Lock()
				if l.painting == painting {
					_ = l.screen.Paint(l.block())
				}
				l.mu.Unlock()
			}
		}
	})
}

func (l *Live) object(o event.Object, at time.Time) {
	if o.State == "Ready" || o.State == "Deleted" {
		delete(l.underWay, o.ID())
		return
	}
	known := l.underWay[o.ID()]
	if known == nil {
		known = &objectUnderWay{since: at}
		l.underWay[o.ID()] = known
	}
	known.Object = o
}

// waiting takes a heartbeat, which names all that is awaited: nothing else is.
func (l *Live) waiting(e event.Event) {
	if l.phase != nil {
		l.phase.remaining, l.phase.at, l.phase.delay = e.Remaining, e.Time, e.Delay
	}
	if len(e.Objects) == 0 {
		return
	}
	named := map[string]bool{}
	for _, o := range e.Objects {
		named[o.ID()] = true
		l.object(o, e.Time)
	}
	for id := range l.underWay {
		if !named[id] {
			delete(l.underWay, id)
		}
	}
}

// mostAhead is how many phases that are ahead have a line.
const mostAhead = 3

// ahead are the phases that come next.
func (l *Live) ahead() []string {
	var lines []string
	for i, title := range l.phase.ahead {
		if more := len(l.phase.ahead) - i; i == mostAhead && more > 1 {
			return append(lines, paint(l.colours, faint, fmt.Sprintf("○ … and %d more", more)))
		}
		lines = append(lines, paint(l.colours, faint, "○ "+oneline.Of(title, 120)))
	}
	return lines
}

// remaining is how long the run will still take, as it is to be painted: never more than it was painted before, though
// an event may say so, as when a phase takes longer than it usually did. 0: nobody knows.
func (l *Live) remaining(now time.Time) time.Duration {
	left := l.phase.remaining - now.Sub(l.phase.at)
	if l.phase.remaining == 0 || left < time.Second {
		return 0
	}
	if l.left > 0 {
		left = min(left, l.left)
	}
	l.left = left
	return left
}
