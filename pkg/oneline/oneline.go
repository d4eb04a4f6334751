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

// Of returns text without line breaks, repeated blanks and characters that a terminal interprets. It cuts the text to
// most characters, the last of which is then "…"; 0 cuts nothing.
func Of(text string, most int) string { return cut(text, most, 0) }

// Ends is Of for the message of an object or an error: it leaves out the middle, because an error says its cause last.
func Ends(text string, most int) string { return cut(text, most, most/3) }

// cut leaves end characters at the end of a text that is too long.
func cut(text string, most, end int) string {
	text = strings.Join(strings.FieldsFunc(strings.Map(visible, text), func(r rune) bool {
		return unicode.IsSpace(r) ||
			obeyed(r)
	}), " ")
	runes := []rune(text)
	if most <= 0 || len(runes) <= most {
		return text
	}
	return string(runes[:most-1-end]) + "…" + string(runes[len(runes)-end:])
}

// Lines returns text of several lines without characters that a terminal interprets. Line breaks and tabs stay.
func Lines(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return -1
		}
		return visible(r)
	}, text)
}

// Blanks returns text on one line: line breaks, tabs and control characters become blanks. It removes characters that
// change the direction of the text.
func Blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if obeyed(r) || r == '\n' || r == '\t' {
			return ' '
		}
		return visible(r)
	}, text)
}

// Fprintf writes the result of Sprintf, and ignores errors.
func Fprintf(out io.Writer, format string, args ...any) {
	_, _ = io.WriteString(out, Sprintf(format, args...))
}

// Sprintf is fmt.Sprintf, but line breaks and control characters in texts, errors, Stringers and lists of texts become
// blanks. Arguments of other types, such as structs and maps, are printed unchanged.
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

// obeyed reports whether a terminal, or a reader of lines, interprets a character instead of showing it. Line breaks
// and tabs do not count.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029'
}

// visible drops characters that change the direction of the text after them: it would look different from what it is.
func visible(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
