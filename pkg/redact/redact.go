// Package redact removes secrets from text and objects that leave the user's control, such as the artifacts of a failed
// CI job. It finds secrets by their value, in any encoding, and by patterns.
package redact

import (
	"regexp"
	"strings"
)

const (
	// Mark replaces a secret.
	Mark = "***"
	// MinLength is the length in bytes of the shortest secret that is searched by its value. It must be greater than
	// the length of Mark. Each replacement then shortens a text, so redacting ends, and Mark contains no secret.
	MinLength = 4
)

// Redactor knows secrets. It is not safe for concurrent use while secrets are added.
type Redactor struct {
	needles  needles
	patterns []pattern
	// words are secrets that are also words of the built-in content, with the patterns that find them as values.
	words map[string]*regexp.Regexp
}

// New returns a Redactor that knows these secrets and the patterns of unknown ones.
func New(secrets ...string) *Redactor {
	r := &Redactor{needles: needles{byStart: map[uint32][]needle{}, known: map[needle]bool{}}, patterns: patterns(),
		words: map[string]*regexp.Regexp{}}
	r.Add(secrets...)
	return r
}

// Add adds secrets. It ignores one that is shorter than MinLength: half of all words would contain it. One that is also
// a word of the built-in content is redacted only as a whole value, and in base64.
func (r *Redactor) Add(secrets ...string) {
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		word := isWord(s)
		if word && r.words[s] == nil {
			r.words[s] = asValue(s)
		}
		for _, form := range forms(s) {
			if !word || form.core {
				r.needles.add(form)
			}
		}
	}
}

// Text returns s without secrets. It finds known ones as they are, in base64 (also as a part of it), escaped as in JSON
// and percent-encoded as in URLs. These encodings may be nested. It also finds private keys, tokens and passwords in
// their usual places.
func (r *Redactor) Text(s string) string {
	for _, p := range r.patterns {
		s = p.redact(s)
	}
	for {
		before := len(s)
		for _, view := range views() {
			s = r.redactView(s, view)
		}
		if len(s) == before { // each replacement has made it shorter
			return r.withoutWords(s)
		}
	}
}

// redactView redacts the secrets in one view of s.
func (r *Redactor) redactView(s string, v view) string {
	read, changed := v(reading{text: s})
	if !changed {
		return s
	}
	found := r.needles.find(read)
	if len(found) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	at := 0
	for _, span := range found {
		out.WriteString(s[at:span.from])
		out.WriteString(Mark)
		at = span.to
	}
	out.WriteString(s[at:])
	return out.String()
}
