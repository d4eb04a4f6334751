package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Screen is a terminal with scrolling lines above a block that is repainted on each change. Everything that writes to
// the terminal uses it, from any goroutine.
type Screen struct {
	out    io.Writer
	size   func() (width, height int)
	redact func(string) string // for written text; nil if not needed

	mu     sync.Mutex
	wanted []string // the block
	block  []string // as painted
	asking bool     // the last line has no line break, as in a prompt: the block would hide it
}

// NewScreen returns a Screen for a terminal. size returns the current width and height in characters. redact, unless
// nil, masks secrets in written text.
func NewScreen(out io.Writer, size func() (width, height int), redact func(string) string) *Screen {
	return &Screen{out: out, size: size, redact: redact}
}

// Write writes text above the block, without control characters. Text without a final line break hides the block until
// a later write has one.
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

// Own writes text with our own colours above the block. Foreign text in it must have no control characters.
func (s *Screen) Own(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		return nil
	}
	s.asking = text[len(text)-1] != '\n'
	return s.paint(text)
}

// Paint replaces the block by lines, cut to fit. Without lines it removes the block. While text without a final line
// break hides the block, Paint only stores the lines.
func (s *Screen) Paint(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = lines
	if s.asking {
		return nil
	}
	return s.paint("")
}

// paint removes the block, writes above and paints the new block. It does so in one write, to avoid flicker.
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

// rowsOf returns how many rows a block takes: a narrowed terminal wraps its lines.
func rowsOf(block []string, width int) int {
	rows := 0
	for _, line := range block {
		rows += max(1, (columns(line)+width-1)/max(1, width))
	}
	return rows
}

// fit cuts lines to the size of a terminal. A higher block could not be removed again, and wider lines would wrap.
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

// escape begins a colour sequence, which ends with m and has no width.
const escape = '\x1b'

// columns returns the visible width of a line.
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
