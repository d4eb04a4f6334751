package render_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
)

const patience = 10 * time.Second

// stuck is what a view writes to when its reader pauses: a write returns once it is released, or takes a while each.
type stuck struct {
	released chan struct{}
	each     time.Duration

	mu   sync.Mutex
	text strings.Builder
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.released
	time.Sleep(s.each)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stuck) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(strings.TrimSuffix(s.text.String(), "\n"), "\n")
}

// steps emits a run of many steps, without its end, and returns what a view that is not slowed down writes.
func steps(sink event.Sink) []string {
	want := []string{"   0.0s  cluster-init up x"}
	sink.Emit(event.Event{Type: event.RunStarted, Time: start(), Command: "up", Environment: "x"})
	for n := range 1000 {
		sink.Emit(event.Event{Type: event.Progress, Time: start(), Message: fmt.Sprint("step ", n)})
		want = append(want, fmt.Sprintf("   0.0s      step %d", n))
	}
	return append(want, "   0.0s  done in 0.0s")
}

var finished = event.Event{Type: event.RunFinished, Time: start()}

// The reader pauses until the run has ended: that takes no time, and then all is there, in order.
func TestQueueOfAViewThatIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{released: make(chan struct{})}
		q := render.NewQueue(render.NewPlain(out, false), patience)
		began := time.Now()
		want := steps(q)
		if took := time.Since(began); took != 0 {
			t.Errorf("the run was slowed down by %s", took)
		}
		time.AfterFunc(patience-time.Second, func() { close(out.released) })
		q.Emit(finished)
		if got := out.lines(); !slices.Equal(got, want) {
			t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
		}
		if took := time.Since(began); took != patience-time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}

// One who reads slowly gets all; one who reads no more gets nothing after that, even when he reads again.
func TestQueueOfAViewThatIsSlowOrStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{released: make(chan struct{}), each: patience - time.Millisecond}
		close(out.released)
		q := render.NewQueue(render.NewPlain(out, false), patience)
		want := steps(q)
		q.Emit(finished)
		if got := out.lines(); !slices.Equal(got, want) {
			t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{released: make(chan struct{})}
		q := render.NewQueue(render.NewPlain(out, false), patience)
		want := steps(q)[:1] // it was being written
		began := time.Now()
		q.Emit(finished)
		q.Emit(event.Event{Type: event.Warning, Time: start(), Message: "too late"})
		if took := time.Since(began); took != patience {
			t.Errorf("the end took %s, want %s", took, patience)
		}
		close(out.released)
		synctest.Wait()
		if got := out.lines(); !slices.Equal(got, want) {
			t.Errorf("written: %q", got)
		}
	})
}

// A terminal that is stuck keeps its Live view, which also paints by itself, from writing; the run continues. Released,
// all is there.
func TestQueueOfALiveViewThatIsStuck(t *testing.T) {
	out := &stuck{released: make(chan struct{})}
	ticks := make(chan time.Time, 1)
	ticks <- time.Time{}
	screen := render.NewScreen(out, func() (int, int) { return 400, 24 }, nil)
	q := render.NewQueue(render.NewLive(
		screen, render.LiveOptions{Now: time.Now, Tick: func() (<-chan time.Time, func()) { return ticks, func() {} }}),
		time.Minute)
	events := run()[:20]
	for _, e := range events[:19] {
		q.Emit(e)
	}
	close(out.released)
	q.Emit(events[19])
	if got := strings.Join(out.lines(), "\n"); !strings.HasSuffix(
		got, "hint:  The first one named is the one to look at.") {
		t.Errorf("written:\n%s", got)
	}
}

// What is said before a run and after it is written at once: questions and answers, which others print, stand between.
func TestQueueOutsideOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{released: make(chan struct{})}
		close(out.released)
		q := render.NewQueue(render.NewPlain(out, false), patience)
		say := func(text string) {
			q.Emit(event.Event{Type: event.Progress, Time: start(), Message: text})
			if got := out.lines(); !strings.HasSuffix(got[len(got)-1], text) {
				t.Errorf("%q is not written: %q", text, got)
			}
		}
		for range 2 {
			say("before")
			steps(q)
			q.Emit(finished)
			say("after")
		}
	})
}

func TestQueueTakesEventsFromSeveralAtOnce(t *testing.T) {
	out := &stuck{released: make(chan struct{})}
	q := render.NewQueue(render.NewPlain(out, false), patience)
	q.Emit(event.Event{Type: event.RunStarted, Time: start()})
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for n := range 100 {
				q.Emit(event.Event{Type: event.Progress, Time: start(), Message: fmt.Sprint(who, " ", n)})
			}
		})
	}
	close(out.released)
	all.Wait()
	q.Emit(finished)
	next := map[int]int{}
	for _, line := range out.lines()[1:401] {
		var who, n int
		if _, err := fmt.Sscanf(line, " 0.0s %d %d", &who, &n); err != nil || n != next[who] {
			t.Fatalf("%q: %v, want step %d", line, err, next[who])
		}
		next[who]++
	}
}
