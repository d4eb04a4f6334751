package render_test

import (
	"strings"
	"sync"
)

// terminal shows what a terminal would: lines that scroll by, which it wraps, cursor up, and erase below.
type terminal struct {
	mu            sync.Mutex
	width, height int
	rows          [][]rune
	wrapped       []bool // whether a row continues in the next one
	row, col      int
	pending       string // a sequence that is not complete
}

func newTerminal(width, height int) *terminal {
	return &terminal{width: width, height: height, rows: [][]rune{nil}, wrapped: []bool{false}}
}

func (t *terminal) size() (int, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range string(p) {
		t.put(r)
	}
	return len(p), nil
}

func (t *terminal) put(r rune) {
	switch {
	case t.pending != "":
		t.pending += string(r)
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			t.sequence(t.pending)
			t.pending = ""
		}
	case r == '\x1b':
		t.pending = "\x1b"
	case r == '\r':
		t.col = 0
	case r == '\n':
		t.down(false)
	default:
		if t.col == t.width {
			t.down(true)
		}
		row := t.rows[t.row]
		for len(row) <= t.col {
			row = append(row, ' ')
		}
		row[t.col] = r
		t.rows[t.row] = row
		t.col++
	}
}

func (t *terminal) down(wraps bool) {
	t.wrapped[t.row] = wraps
	t.row, t.col = t.row+1, 0
	if t.row == len(t.rows) {
		t.rows, t.wrapped = append(t.rows, nil), append(t.wrapped, false)
	}
}

func (t *terminal) sequence(s string) {
	switch s[len(s)-1] {
	case 'A':
		n := 0
		for _, r := range s[2 : len(s)-1] {
			n = n*10 + int(r-'0')
		}
		top := max(0, len(t.rows)-t.height)
		t.row = max(top, t.row-n)
	case 'J':
		t.rows[t.row] = t.rows[t.row][:min(t.col, len(t.rows[t.row]))]
		t.rows, t.wrapped = t.rows[:t.row+1], t.wrapped[:t.row+1]
		t.wrapped[t.row] = false
	}
}

// resize rewraps all lines, as terminals do.
func (t *terminal) resize(width int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	for i, row := range t.rows {
		text.WriteString(string(row))
		if !t.wrapped[i] && i < len(t.rows)-1 {
			text.WriteByte('\n')
		}
	}
	t.width, t.rows, t.wrapped, t.row, t.col = width, [][]rune{nil}, []bool{false}, 0, 0
	for _, r := range text.String() {
		t.put(r)
	}
}

// seen are the rows, those that scrolled away too.
func (t *terminal) seen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, row := range t.rows {
		b.WriteString(strings.TrimRight(string(row), " "))
		if i < len(t.rows)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
