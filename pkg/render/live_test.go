package render_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// watched is a Live view on a terminal, with a clock of the test's own.
type watched struct {
	*render.Live
	terminal *terminal
	screen   *render.Screen
	mu       sync.Mutex
	at       time.Time
	ticks    chan time.Time
	stopped  bool
}

func watch(width, height int, colours bool) *watched {
	w := &watched{terminal: newTerminal(width, height), ticks: make(chan time.Time)}
	w.screen = render.NewScreen(w.terminal, w.terminal.size, nil)
	w.Live = render.NewLive(w.screen, render.LiveOptions{Colours: colours,
		Now:  func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.at },
		Tick: func() (<-chan time.Time, func()) { return w.ticks, func() { w.stopped = true } }})
	return w
}

func (w *watched) emit(e event.Event) {
	w.set(e.Time)
	w.Emit(e)
}

func (w *watched) set(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = at
}

// tick lets the time be painted, and returns when it was.
func (w *watched) tick(later time.Duration) {
	w.mu.Lock()
	w.at = w.at.Add(later)
	w.mu.Unlock()
	w.ticks <- time.Time{}
	w.ticks <- time.Time{} // is taken when the first was painted
}

// What a user sees, event by event, on a narrow terminal and on a wide one.
func TestLive(t *testing.T) {
	for _, size := range [][2]int{{44, 6}, {120, 40}} {
		name := fmt.Sprintf("live-%d.txt", size[0])
		t.Run(name, func(t *testing.T) {
			w := watch(size[0], size[1], false)
			var b strings.Builder
			for _, e := range run() {
				w.emit(e)
				rows := strings.Split(w.terminal.seen(), "\n")
				fmt.Fprintf(&b, "---- %s %s\n%s\n", e.Type, e.Phase, strings.Join(rows[max(0, len(rows)-size[1]):],
					"\n"))
			}
			golden.Check(t, name, []byte(b.String()))
		})
	}
}

// What is under way leaves nothing behind: in the end there are the lines of Plain, but for those that stand in the
// block.
func TestLiveLeavesWhatPlainSays(t *testing.T) {
	w := watch(400, 30, true)
	var plain bytes.Buffer
	lines := render.NewPlain(&plain, false)
	for _, e := range run() {
		w.emit(e)
		if e.Type != event.PhaseStarted && e.Type != event.Waiting {
			lines.Emit(e)
		}
	}
	if got := w.terminal.seen(); got != plain.String() {
		t.Errorf("on the terminal:\n%s\nas lines:\n%s", got, plain.String())
	}
}

func TestLivePaintsTheTime(t *testing.T) {
	w := watch(140, 30, false)
	for _, e := range run()[:18] {
		w.emit(e)
	}
	w.tick(90 * time.Second)
	got := w.terminal.seen()
	for _, want := range []string{"● Flux and the components  1m43s  about 40s left  32s later than in earlier runs " +
		"because of Kustomization/cert-manager\n", "├ Kustomization/cert-manager  1m40s   Progressing, 1 behind it: " +
		"timeout waiting for: Deployment/cert-manager",
		"└ Kustomization/capi          1m42s   waits for cert-manager\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
	w.tick(time.Minute)
	if got := w.terminal.seen(); strings.Contains(got, "left") || strings.Count(got, "●") != 1 {
		t.Errorf("an estimate that has passed, or two blocks:\n%s", got)
	}
	w.emit(event.Event{Type: event.RunFinished, Time: w.at})
	if !w.stopped {
		t.Error("the clock was not stopped")
	}
}

// A phase that follows no object is what delays the end itself.
func TestLiveNamesAPhaseThatTakesLonger(t *testing.T) {
	w := watch(100, 30, false)
	w.emit(event.Event{Type: event.PhaseStarted, Title: "images", Time: start()})
	w.emit(event.Event{Type: event.Waiting, Message: "images", Delay: &event.Delay{By: 20 * time.Second},
		Time: start().Add(time.Minute)})
	if got, want := w.terminal.seen(), "● images  1m0s  this takes 20s longer than in earlier runs\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What waits for an object through others waits for it too; what goes by the same name in the other cluster does not.
func TestLiveCountsWhatIsBehind(t *testing.T) {
	w := watch(100, 30, false)
	w.emit(event.Event{Type: event.PhaseStarted, Title: "p", Time: start()})
	for _, o := range []event.Object{{Name: "a", State: "Progressing"}, {Name: "b", WaitsFor: []string{"a"}},
		{Name: "c", WaitsFor: []string{"b", "a"}}, {Name: "d", WaitsFor: []string{"c"}},
		{Name: "d", Cluster: "management", WaitsFor: []string{"a"}}, {Name: "e", State: "Failed", Message: "x"},
		{Kind: "Source", Name: "a", State: "Progressing"}} {
		if o.Kind == "" {
			o.Kind = "K"
		}
		w.emit(event.Event{Type: event.ObjectChanged, Object: &o, Time: start()})
	}
	for _, want := range []string{"K/a       0s      Progressing, 3 behind it\n", "K/e       0s      Failed: x\n",
		"Source/a  0s      Progressing\n"} {
		if got := w.terminal.seen(); !strings.Contains(got, want) {
			t.Errorf("%q is not there:\n%s", want, got)
		}
	}
}

// What is left, as it stands on the terminal, never grows within a run, and disappears once it is not known.
func TestLiveNeverPaintsThatMoreIsLeft(t *testing.T) {
	w := watch(100, 30, false)
	said := func(kind event.Type, remaining time.Duration) {
		w.emit(event.Event{Type: kind, Time: w.at, Title: "b", Message: "x", Remaining: remaining})
	}
	shows := func(want string) {
		t.Helper()
		_, got, _ := strings.Cut(w.terminal.seen(), "about ")
		got, _, _ = strings.Cut(got, "\n")
		if got != want {
			t.Fatalf("it shows %q, want %q", got, want)
		}
	}
	w.emit(event.Event{Type: event.RunStarted, Time: start()})
	said(event.PhaseStarted, 2*time.Minute)
	shows("2m0s left")
	w.tick(14 * time.Second)
	shows("1m46s left")
	said(event.Waiting, 2*time.Minute) // the phase takes longer than it usually did
	shows("1m46s left")
	w.tick(10 * time.Second)
	shows("1m46s left")
	w.tick(10 * time.Second)
	shows("1m40s left")
	said(event.Waiting, 0) // no longer known
	shows("")
	w.tick(time.Second)
	shows("")
	said(event.PhaseStarted, 3*time.Minute)
	shows("1m40s left")
	said(event.Waiting, time.Minute)
	shows("1m0s left")
	w.tick(59500 * time.Millisecond)
	shows("")
	said(event.RunFinished, 0)
	w.emit(event.Event{Type: event.RunStarted, Time: w.at}) // another run
	said(event.PhaseStarted, 2*time.Minute)
	shows("2m0s left")
	said(event.RunFinished, 0)
}

// A terminal that becomes narrower wraps the block, which is taken away all the same.
func TestLiveOnATerminalThatIsMadeNarrower(t *testing.T) {
	w := watch(120, 60, false)
	events := run()
	for _, e := range events[:18] {
		w.emit(e)
	}
	for _, width := range []int{50, 30, 90, 20} {
		w.terminal.resize(width)
		w.tick(time.Second)
		if got := w.terminal.seen(); strings.Count(got, "●") != 1 || strings.Count(got, "└") != 1 {
			t.Fatalf("%d wide:\n%s", width, got)
		}
	}
	w.emit(event.Event{Type: event.RunFinished, Time: w.at})
}

// Others write to the terminal too: an interrupt is reported, a question asked.
func TestScreenTakesWhatOthersWrite(t *testing.T) {
	terminal := newTerminal(40, 10)
	s := render.NewScreen(terminal, terminal.size, nil)
	write := func(text string) {
		if n, err := io.WriteString(s, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	write("before, ")
	write("on one line\n")
	check := func(want string) {
		t.Helper()
		if got := terminal.seen(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	paint := func(lines ...string) {
		if err := s.Paint(lines); err != nil {
			t.Fatal(err)
		}
	}
	paint("● one", "  └ two")
	check("before, on one line\n● one\n  └ two\n")
	write("interrupted\nhalf a")
	check("before, on one line\ninterrupted\nhalf a")
	paint("● three")
	check("before, on one line\ninterrupted\nhalf a")
	write(" line\n")
	check("before, on one line\ninterrupted\nhalf a line\n● three\n")
	write("a question?")
	paint()
	check("before, on one line\ninterrupted\nhalf a line\na question?")
	write("yes\n")
	check("before, on one line\ninterrupted\nhalf a line\na question?yes\n")
	paint("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")
	if got := terminal.seen(); !strings.HasSuffix(got, "\nh\n    … and 3 more lines\n") {
		t.Errorf("higher than the terminal: %q", got)
	}
	paint(strings.Repeat("x", 100))
	if got := terminal.seen(); !strings.HasSuffix(got, "yes\n"+strings.Repeat("x", 38)+"…\n") {
		t.Errorf("wider than the terminal: %q", got)
	}
}

func TestLiveTakesEventsFromSeveralAtOnce(t *testing.T) {
	w := watch(100, 30, true)
	var all sync.WaitGroup
	w.emit(run()[0])
	for range 4 {
		all.Go(func() {
			for _, e := range run()[1:18] {
				w.emit(e)
			}
		})
	}
	all.Go(func() { w.tick(time.Second) })
	all.Wait()
	w.emit(event.Event{Type: event.RunFinished, Time: w.at})
	if got := w.terminal.seen(); strings.Contains(got, "●") {
		t.Errorf("the block is still there:\n%s", got)
	}
}

// What a cluster says moves no cursor: the terminal is its user's.
func TestLiveTakesNoCommandsFromMessages(t *testing.T) {
	w := watch(100, 30, false)
	events := run()
	for _, e := range events[:9] {
		w.emit(e)
	}
	hostile := event.Event{Type: event.ObjectChanged, Time: w.at, Object: &event.Object{Kind: "Kustomization",
		Name: "x\x1b[2J", State: "Failed", Message: "a\x1b[1;1H\x07b", WaitsFor: []string{"\x1b[3A"}}}
	w.emit(hostile)
	hostile.Object.WaitsFor = nil
	w.emit(hostile)
	w.emit(event.Event{Type: event.RunFinished, Time: w.at, Failure: &event.Failure{Message: "x\x1b[2Jy"}})
	got := w.terminal.seen()
	if strings.Count(got, "bootstrap cluster (14.2s)") != 1 || !strings.Contains(got, "error: x[2Jy") ||
		!strings.Contains(got, "Failed: a [1;1H b") {
		t.Errorf("%s", got)
	}
}
