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

// builtIn returns all text that this binary installs.
var builtIn = sync.OnceValue(func() string {
	var all strings.Builder
	// Embedded files can always be read.
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

// starts returns the first MinLength bytes of all words in builtIn. Most secrets, such as the lines of a key, begin
// with none of them.
var starts = sync.OnceValue(func() map[string]bool {
	found, text, before := map[string]bool{}, builtIn(), ' '
	for i, r := range text {
		if !inWord(before) && i+MinLength <= len(text) {
			found[text[i:i+MinLength]] = true
		}
		before = r
	}
	return found
})

// isWord reports whether a secret is also a word of the built-in content, such as the password "management". If each
// such word were redacted, texts would become unreadable.
func isWord(secret string) bool {
	const longest = 64
	if len(secret) < MinLength || len(secret) > longest || strings.ContainsFunc(secret, unicode.IsSpace) ||
		!starts()[secret[:MinLength]] {
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

// asValue matches a word that is a whole value: after a key on its own line, or in JSON.
func asValue(word string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(word)
	return regexp.MustCompile(`(?m)(^[ \t]*(?:- )?([\w.-]+):[ \t]+["']?|"([\w.-]+)"\s*:\s*")` + quoted +
		`(["']?[ \t]*$|")`)
}

// withoutWords returns s without the secrets that are words, where they are whole values.
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
