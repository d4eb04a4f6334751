package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Screen is a terminal on which lines scroll by, above a block that is painted anew whenever it changes. Whoever writes
// to the terminal writes through it, from any goroutine.
type Screen struct {
	out    io.Writer
	size   func() (width, height int)
	redact func(string) string // of what others write; nil: nothing is taken out

	mu     sync.Mutex
	wanted []string // the block
	block  []string // as it stands there
	asking bool     // the last line has no end, as a question has none: the block would hide it
}

// NewScreen returns a Screen for a terminal. size is asked before each painting, as a user may change it; width and
// height are in characters. redact goes over what is written to it; nil: nothing does.
func NewScreen(out io.Writer, size func() (width, height int), redact func(string) string) *Screen {
	return &Screen{out: out, size: size, redact: redact}
}

// Write writes text above the block, without what a terminal obeys. A line without its end takes the block away, until
// something else is written.
func (s *Screen) Write(text []byte) (int, error) {
	safe := string(text)
	if s.redact != nil {
		safe = s.redact(safe)
	}
	if err := s.Own(oneline.Lines(safe)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Own writes above the block what the terminal is to obey: colours of ours. Text of others in it must be without any.
func (s *Screen) Own(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		return nil
	}
	s.asking = text[len(text)-1] != '\n'
	return s.paint(text)
}

// Paint puts lines in the place of the block, cut to what fits; none: the block goes.
func (s *Screen) Paint(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = lines
	if s.asking {
		return nil
	}
	return s.paint("")
}

// paint takes the block away, writes above, and paints the block that is wanted below that, in one write: else it would
// flicker.
func (s *Screen) paint(above string) error {
	width, height := s.size()
	var fitting []string
	if !s.asking {
		fitting = fit(s.wanted, width, height)
	}
	if above == "" && slices.Equal(fitting, s.block) {
		return nil
	}
	var b strings.Builder
	if rows := rowsOf(s.block, width); rows > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", rows)
	}
	b.WriteString(above)
	for _, line := range fitting {
		b.WriteString(line + "\n")
	}
	s.block = fitting
	_, err := io.WriteString(s.out, b.String())
	return err
}

// rowsOf is how many rows a block takes now: terminals wrap its lines when a user makes them narrower.
func rowsOf(block []string, width int) int {
	rows := 0
	for _, line := range block {
		rows += max(1, (columns(line)+width-1)/max(1, width))
	}
	return rows
}

// fit cuts lines to a terminal: a block that is higher could not be taken away again, and one that is as wide would
// wrap.
func fit(lines []string, width, height int) []string {
	if most := max(1, height-1); len(lines) > most {
		left := len(lines) - most + 1
		lines = append(append([]string(nil), lines[:most-1]...), fmt.Sprintf("    … and %d more lines", left))
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = cut(line, max(1, width-1))
	}
	return out
}

// escape begins a sequence that colours, which ends with m and takes no room.
const escape = '\x1b'

// columns is how many characters of a line are seen.
func columns(line string) int {
	n, inside := 0, false
	for _, r := range line {
		switch {
		case r == escape:
			inside = true
		case inside:
			inside = r != 'm'
		default:
			n++
		}
	}
	return n
}

// cut returns a line of at most width characters.
func cut(line string, width int) string {
	if columns(line) <= width {
		return line
	}
	var b strings.Builder
	n, inside, coloured := 0, false, false
	for _, r := range line {
		switch {
		case r == escape:
			inside, coloured = true, true
		case inside:
			inside = r != 'm'
		case n == width-1:
			b.WriteRune('…')
			if coloured {
				b.WriteString(plainAgain)
			}
			return b.String()
		default:
			n++
		}
		b.WriteRune(r)
	}
	return b.String()
}
