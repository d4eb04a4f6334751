package oneline

import (
	"fmt"
	"regexp"
	"strings"
)

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./@%+,:=-]+$`)

// Shell returns a word as a person can paste it into a shell, in a command that we show: whatever others put into it
// stays one word.
func Shell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	if !strings.ContainsFunc(word, func(r rune) bool { return obeyed(r) || r == '\n' || r == '\t' || visible(r) < 0 }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, r := range word {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r > 0xffff:
			b.WriteRune(r)
		case obeyed(r) || r == '\n' || r == '\t' || visible(r) < 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}
