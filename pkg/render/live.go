package render

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Live shows a run on a terminal. Past events scroll by as in Plain. Below them, a block shows the current phase and
// its objects, repainted on each event and each tick.
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
	left     time.Duration // of the run, as last painted; 0 if never
	painting chan struct{} // closed to end the goroutine that repaints the time; nil if there is none
	painter  sync.WaitGroup
}

// phaseUnderWay is the current phase of a run.
type phaseUnderWay struct {
	title     string
	begun     time.Time
	remaining time.Duration // of the run, at `at`; 0 if not known
	at        time.Time
	ahead     []string // titles of the following phases
	delay     *event.Delay
}

// objectUnderWay is an object that the phase waits for.
type objectUnderWay struct {
	event.Object
	since time.Time
}

// LiveOptions are the options of a Live view.
type LiveOptions struct {
	Verbose bool
	Colours bool
	Now     func() time.Time
	// Tick returns the channel that triggers repaints, and its stop function. Nil means once a second.
	Tick func() (ticks <-chan time.Time, stop func())
}

// NewLive returns a Live view on a screen. It paints from the first to the last event of a run.
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

// Emit shows e. It ignores errors of the terminal, which its owner handles.
func (l *Live) Emit(e event.Event) {
	l.mu.Lock()
	l.take(e)
	if e.Type != event.Waiting && e.Type != event.PhaseStarted { // shown in the block
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

// take updates the state of the block from e.
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

// begin starts repainting the time.
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

// waiting takes a heartbeat. If it has objects, they are all that the phase waits for.
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

// mostAhead is how many following phases have a line. If only one more follows, it has a line too.
const mostAhead = 3

// ahead returns the lines of the following phases.
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

// remaining returns the remaining time to paint. It never exceeds the time painted before, even if an event says so.
// Zero means not known.
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
