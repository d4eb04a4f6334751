package kube

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadTail(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"short":              {"one\ntwo\n", "one\ntwo\n"},
		"as long as allowed": {"123456789\n", "123456789\n"},
		"cut within a line":  {"123456\n89\nlast\n", "89\nlast\n"},
		"cut at a line":      {"first\n123456789\n", "123456789\n"},
		"one long line":      {strings.Repeat("x", 100), ""},
		"no line break":      {"123456789\nlast", "last"},
	} {
		for _, reader := range []io.Reader{strings.NewReader(row.text),
			iotest.OneByteReader(strings.NewReader(row.text))} {
			if got, err := readTail(reader, 10); got != row.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, got, err, row.want)
			}
		}
	}
	cut := io.MultiReader(strings.NewReader("one\nhalf a li"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := readTail(cut, 10); got != "one\n" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken stream: %q, %v", got, err)
	}
}
