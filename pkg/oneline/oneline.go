// Package oneline writes what others have said on one line of a terminal.
package oneline

import (
	"strings"
	"unicode"
)

// Of is text without line breaks, repeated blanks and control characters, which a terminal would obey, cut to at most so many characters; 0 cuts nothing.
func Of(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
