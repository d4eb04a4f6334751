package main

import (
	"slices"
	"strconv"
	"strings"
)

// cell is a character in a colour. class is the name of its style in the picture; "" is the plain one.
type cell struct {
	r     rune
	class string
}

// terminal keeps all rows that were written, and what the live view does to them: cursor up, erase below, colours.
type terminal struct {
	rows     [][]cell
	row      int
	class    string
	sequence string // one that is not complete
}

// classes are the styles by the sequences of the live view.
var classes = map[string]string{"0": "", "1": "b", "2": "f", "31": "r", "32": "g", "33": "y"}

// Write shows text. It never fails.
func (t *terminal) Write(text []byte) (int, error) {
	for _, r := range string(text) {
		switch {
		case r == '\x1b' || t.sequence != "":
			t.escape(r)
		case r == '\n':
			t.current()
			t.row++
		case r == '\r':
		default:
			*t.current() = append(*t.current(), cell{r, t.class})
		}
	}
	return len(text), nil
}

// current returns the row of the cursor.
func (t *terminal) current() *[]cell {
	for len(t.rows) <= t.row {
		t.rows = append(t.rows, nil)
	}
	return &t.rows[t.row]
}

func (t *terminal) escape(r rune) {
	t.sequence += string(r)
	argument := strings.TrimPrefix(t.sequence, "\x1b[")
	argument = argument[:max(0, len(argument)-1)]
	switch r {
	case 'A':
		rows, _ := strconv.Atoi(argument)
		t.row = max(0, t.row-rows)
	case 'J':
		t.rows = t.rows[:min(t.row, len(t.rows))]
	case 'm':
		t.class = classes[argument]
	default:
		return
	}
	t.sequence = ""
}

// shown returns a copy of all rows.
func (t *terminal) shown() [][]cell {
	rows := make([][]cell, len(t.rows))
	for i, row := range t.rows {
		rows[i] = slices.Clone(row)
	}
	return rows
}
