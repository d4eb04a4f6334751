package oneline

import (
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Log is the CI system, if any, that interprets commands in log lines.
type Log struct {
	// Obeys reports whether it interprets commands in the output of a job: "::name::" at the start of a line,
	// "##[name]" anywhere.
	Obeys bool
	// StopToken begins and ends the parts in which GitHub ignores commands. If it is empty, only changes of the text
	// prevent commands.
	StopToken string
}

// Writer writes foreign text to a terminal, a pipe or a log, without control characters and commands. Own writes this
// program's own control sequences.
type Writer struct {
	log    Log
	filter func(string) string // nil: none

	mu      sync.Mutex
	out     io.Writer
	rest    []byte // the first bytes of a character that is not complete yet
	head    string // the beginning of the current line, without leading blanks: two characters are enough
	tail    string // its last longestOpening bytes: a command may begin in them
	inLine  bool   // the last character that was written ended no line
	stopped bool   // GitHub ignores commands now
}

// NewWriter returns a Writer to out. filter, if not nil, changes each text before it is written.
func NewWriter(out io.Writer, log Log, filter func(string) string) *Writer {
	return &Writer{out: out, log: log, filter: filter}
}

// Write writes foreign text. Without an error it returns len(text), whatever the filters removed or added.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := slices.Concat(w.rest, text)
	cut := len(whole) - unfinished(whole)
	w.rest = append([]byte(nil), whole[cut:]...)
	if err := w.write(string(whole[:cut])); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unfinished returns the number of bytes at the end that begin an incomplete character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if start := text[len(text)-n:]; utf8.RuneStart(start[0]) {
			if utf8.FullRune(start) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (w *Writer) write(text string) error {
	if w.filter != nil {
		text = w.filter(text)
	}
	text = Lines(text)
	if w.log.Obeys {
		text = w.disarm(text)
	}
	if text == "" {
		return nil
	}
	if w.log.StopToken != "" && !w.stopped && !w.inLine {
		text, w.stopped = "::stop-commands::"+w.log.StopToken+"\n"+text, true
	}
	w.inLine = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(w.out, text)
	return err
}

// Own writes text of this program, which the terminal or the CI system interprets. Foreign text in it must contain no
// control characters and no commands. text must not be empty.
func (w *Writer) Own(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = w.obeyAgain() + text
	w.inLine, w.head, w.tail = !strings.HasSuffix(text, "\n"), "", ""
	if w.inLine {
		w.head = text[:1] + text[:1]
	}
	_, err := io.WriteString(w.out, text)
	return err
}

// Close lets the CI system interpret commands after this program. It does not close the output.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if again := w.obeyAgain(); again != "" {
		_, err := io.WriteString(w.out, again)
		return err
	}
	return nil
}

// obeyAgain returns the line that ends the part in which GitHub ignores commands. It is empty outside of such a part.
func (w *Writer) obeyAgain() string {
	if !w.stopped {
		return ""
	}
	w.stopped = false
	again := "::" + w.log.StopToken + "::\n"
	if w.inLine {
		again = "\n" + again
	}
	return again
}

// disarm inserts a blank into text that a log reader would take for a command. It remembers the current line, because a
// command may be written in pieces.
func (w *Writer) disarm(text string) string {
	var b strings.Builder
	for i, r := range text {
		if r == '\n' {
			w.head, w.tail = "", ""
			b.WriteRune(r)
			continue
		}
		if r == ':' && w.head == ":" && mayBeCommand(text[i+1:]) || r == '[' && opensCommand(w.tail) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		if !(w.head == "" && unicode.IsSpace(r)) && len(w.head) < 2 {
			w.head += string(r)
		}
		w.tail += string(r)
		if more := len(w.tail) - longestOpening; more > 0 {
			w.tail = w.tail[more:]
		}
	}
	return b.String()
}

// mayBeCommand reports whether "::" before rest can begin a command. A command has a second "::" in its line; an
// address such as ::1 has none. In an unfinished line it may still follow.
func mayBeCommand(rest string) bool {
	line, _, whole := strings.Cut(rest, "\n")
	return !whole || strings.Contains(line, "::")
}

// longestOpening is the length of the longest opening in opensCommand.
const longestOpening = len("##teamcity")

// opensCommand reports whether "[" after line begins a command of GitHub, Azure or TeamCity.
func opensCommand(line string) bool {
	for _, opening := range []string{"##", "##vso", "##teamcity"} {
		if strings.HasSuffix(line, opening) {
			return true
		}
	}
	return false
}
