package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// stopped is a terminal after Ctrl-S: what is written to it is taken once it is released.
type stopped struct {
	released chan struct{}
	taken    bytes.Buffer
}

func (s *stopped) Write(p []byte) (int, error) {
	<-s.released
	return s.taken.Write(p)
}

// A terminal or a program that stops reading does not slow a run down: the run does all its work, and ends. When it
// reads again, all is there, before what is printed after it.
func TestAViewThatIsStuckStopsNoRun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("CI", "")
	t.Setenv("GITHUB_ACTIONS", "")
	t.Setenv("GITLAB_CI", "")
	for _, format := range []string{"plain", "json"} {
		for _, released := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, released %v", format, released), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := &stopped{released: make(chan struct{})}
					began := time.Now()
					n, err := outputOptions{format: format}.sink(Streams{Out: out, Err: out})
					if err != nil {
						t.Fatal(err)
					}
					want := []string{"cluster-init up x"}
					err = report(t.Context(), n, "up", "x", func(context.Context) (outcome, error) {
						for i := range 100 {
							step := fmt.Sprintf("step %02d", i)
							n.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: step})
							want = append(want, step)
						}
						if took := time.Since(began); took != 0 {
							t.Errorf("the work was slowed down by %s", took)
						}
						if released {
							time.AfterFunc(viewPatience/2, func() { close(out.released) })
						}
						return outcome{}, nil
					}, nil)
					if err != nil {
						t.Error(err)
					}
					wantTook := viewPatience
					if released {
						wantTook = viewPatience / 2
					}
					if took := time.Since(began); took != wantTook {
						t.Errorf("the end took %s, want %s", took, wantTook)
					}
					if !released {
						close(out.released)
						synctest.Wait()
						return
					}
					_, _ = io.WriteString(out, "the answer\n")
					lines := strings.Split(strings.TrimSpace(out.taken.String()), "\n")
					if len(lines) != len(want)+2 || lines[len(lines)-1] != "the answer" {
						t.Fatalf("%d lines:\n%s", len(lines), out.taken.String())
					}
					if format == "plain" && !slices.EqualFunc(lines[:len(want)], want, strings.HasSuffix) {
						t.Errorf("lines:\n%s", out.taken.String())
					}
				})
			})
		}
	}
}

// An interrupt takes effect although the terminal takes no word of it.
func TestAnInterruptOnAStuckTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stopped{released: make(chan struct{})}
		began := time.Now()
		within(func() { _, _ = io.WriteString(out, "interrupted") })
		if took := time.Since(began); took != sayBound {
			t.Errorf("it took %s, want %s", took, sayBound)
		}
		close(out.released)
		synctest.Wait()
		within(func() { _, _ = io.WriteString(out, ", once more") })
		if took := time.Since(began); took != sayBound || out.taken.String() != "interrupted, once more" {
			t.Errorf("after %s: %s", took, out.taken.String())
		}
	})
}
