package redact

import (
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	clusterinit "github.com/cluster-init/cluster-init"
)

// builtIn is all text that this binary installs.
var builtIn = sync.OnceValue(func() string {
	var all strings.Builder
	// what is embedded can be read
	_ = fs.WalkDir(clusterinit.Content(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(clusterinit.Content(), path)
		all.WriteString(path + "\n" + string(text) + "\n")
		return err
	})
	return all.String()
})

// isWord reports whether a secret is spelled like a word of the built-in content, as the password "management" is.
// Wherever that word stands it would be taken for the secret, and nothing could be read any more.
func isWord(secret string) bool {
	const longest = 64
	if secret == "" || len(secret) > longest || strings.ContainsFunc(secret, unicode.IsSpace) {
		return false
	}
	text := builtIn()
	for at := 0; ; {
		found := strings.Index(text[at:], secret)
		if found < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+found])
		after, _ := utf8.DecodeRuneInString(text[at+found+len(secret):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += found + 1
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// asValue finds a word where it is all of a value: after a key on a line of its own, or in JSON.
func asValue(word string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(word)
	return regexp.MustCompile(`(?m)(^[ \t]*(?:- )?([\w.-]+):[ \t]+["']?|"([\w.-]+)"\s*:\s*")` + quoted +
		`(["']?[ \t]*$|")`)
}

// withoutWords returns s without the secrets that are words, where they are values of their own.
func (r *Redactor) withoutWords(s string) string {
	for word, value := range r.words {
		if !strings.Contains(s, word) {
			continue
		}
		s = value.ReplaceAllStringFunc(s, func(found string) string {
			parts := value.FindStringSubmatch(found)
			if len(parts) == 0 || Public(parts[2]) || Public(parts[3]) {
				return found
			}
			return parts[1] + Mark + parts[4]
		})
	}
	return s
}
