package cli

import (
	"cmp"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// onScreen returns a writer for a live view if err is a terminal that supports it, and lines otherwise. to writes to
// the terminal. CI jobs always get lines.
func onScreen(err, to, lines io.Writer, redact func(string) string) io.Writer {
	file, is := err.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) || inCI() || cmp.Or(os.Getenv("TERM"), "dumb") == "dumb" {
		return lines
	}
	return render.NewScreen(to, func() (width, height int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}, redact)
}

// live returns the view of a current run: painted on a terminal, else the same as view.
func (o outputOptions) live(s Streams) (event.Sink, error) {
	screen, is := s.Err.(*render.Screen)
	if !is || o.format != "plain" || folding() != nil {
		return o.view(s)
	}
	return render.NewLive(screen, render.LiveOptions{Verbose: o.verbose, Colours: os.Getenv("NO_COLOR") == "",
		Now: time.Now}), nil
}
