// The program draws a kept run as an animated SVG: what its user saw on a terminal, played faster.
//
//	go run ./e2e/recording RUN-FILE >run.svg
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

// The size of the terminal, in characters.
const width, height = 100, 28

// A second of the run takes pace in the picture, and a pause at most longestPause.
const (
	pace         = 80 * time.Millisecond
	longestPause = 900 * time.Millisecond
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: recording RUN-FILE")
	}
	recording, err := runs.Read(args[0])
	if err != nil {
		return err
	}
	if len(recording.Events) == 0 {
		return fmt.Errorf("read %s: it holds no events", args[0])
	}
	return draw(out, play(recording.Events))
}

// play shows events in the live view, and returns the frames.
func play(events []event.Event) []frame {
	screen := &terminal{}
	now := events[0].Time
	view := render.NewLive(render.NewScreen(screen, func() (int, int) { return width, height }, nil),
		render.LiveOptions{
			Colours: true,
			Now:     func() time.Time { return now },
			Tick:    func() (<-chan time.Time, func()) { return nil, func() {} },
		})
	var frames []frame
	var at time.Duration
	for _, e := range events {
		at += min(time.Duration(float64(pace)*e.Time.Sub(now).Seconds()), longestPause)
		now = e.Time
		view.Emit(e)
		frames = append(frames, frame{at: at, rows: screen.shown()})
	}
	return frames
}
