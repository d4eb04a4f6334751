// Package oneline makes foreign text safe for terminals and CI logs: one line, or lines without control characters and
// commands.
package oneline

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
)

// Of returns text without line breaks, repeated blanks and characters that a terminal obeys, cut to at most so many
// characters; 0 cuts nothing.
func Of(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(strings.Map(visible, text), func(r rune) bool {
		return unicode.IsSpace(r) ||
			obeyed(r)
	}), " ")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Lines returns text of several lines without characters that a terminal obeys. Line breaks and tabs stay.
func Lines(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return -1
		}
		return visible(r)
	}, text)
}

// Blanks returns text on one line, each of its line breaks, tabs and control characters a blank.
func Blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) || r == '\n' || r == '\t' {
			return ' '
		}
		return visible(r)
	}, text)
}

// Fprintf writes as fmt.Fprintf does. Line breaks come from the format alone: those of its arguments become blanks.
func Fprintf(out io.Writer, format string, args ...any) {
	_, _ = io.WriteString(out, Sprintf(format, args...))
}

// Sprintf is fmt.Sprintf whose arguments bring no line break and no control character. Whoever prints a list of names
// prints it with this: a name with a line break in it would be two lines.
func Sprintf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = safeArgument(arg)
	}
	return fmt.Sprintf(format, safe...)
}

func safeArgument(arg any) any {
	switch typed := arg.(type) {
	case nil:
		return arg
	case error:
		return Blanks(typed.Error())
	case fmt.Stringer:
		return Blanks(typed.String())
	}
	switch v := reflect.ValueOf(arg); {
	case v.Kind() == reflect.String:
		return Blanks(v.String())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		all := make([]string, v.Len())
		for i := range all {
			all[i] = Blanks(v.Index(i).String())
		}
		return all
	}
	return arg
}

// obeyed reports whether a terminal, or a reader of lines, acts on a character instead of showing it. A line break and
// a tab are no such.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029'
}

// visible drops the characters that change the direction of what follows: a text would read otherwise than it is.
func visible(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
