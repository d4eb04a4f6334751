package oneline

import (
	"fmt"
	"regexp"
	"strings"
)

// plainWord matches a word that needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w./@%+,:=-]+$`)

// Shell quotes a word for a command that a person pastes into a shell. It stays one word, whatever it contains.
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
