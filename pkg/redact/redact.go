// Package redact takes secrets out of text and objects that leave the hands of their owner, as the artifacts of a
// failed CI job do. It knows secrets by their value, in whatever form it is written, and by what looks like one.
package redact

import (
	"regexp"
	"strings"
)

const (
	// Mark is what stands in the place of a secret.
	Mark = "***"
	// MinLength is that of the shortest secret, in bytes, that is looked for by its value. It must be greater than the
	// length of Mark: then redacting makes a text shorter, which is why it comes to an end, and Mark holds no secret.
	MinLength = 4
)

// Redactor knows secrets. It is not for use by several goroutines while secrets are added.
type Redactor struct {
	needles  needles
	patterns []pattern
	// secrets that are words of the built-in content too, and what finds them where they are values
	words map[string]*regexp.Regexp
}

// New returns a Redactor that knows these secrets, and what looks like one.
func New(secrets ...string) *Redactor {
	r := &Redactor{needles: needles{byStart: map[uint32][]needle{}}, patterns: patterns(),
		words: map[string]*regexp.Regexp{}}
	r.Add(secrets...)
	return r
}

// Add makes more secrets known. One that is shorter than MinLength would be found in half of all words, and is left
// out. One that is a word of the built-in content too is found where it is a value of its own.
func (r *Redactor) Add(secrets ...string) {
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		word := len(s) >= MinLength && isWord(s)
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

// Text returns s without secrets: known ones as they are, in base64 (also as a part of something longer), escaped as in
// JSON and percent-encoded as in URLs, several times over if need be; and private keys, tokens and passwords in places
// where they usually are.
func (r *Redactor) Text(s string) string {
	for _, p := range r.patterns {
		s = p.redact(s)
	}
	for {
		before := len(s)
		for _, view := range views() {
			s = r.redactView(s, view)
		}
		if len(s) == before { // each secret that was found has made it shorter
			return r.withoutWords(s)
		}
	}
}

// redactView redacts what is found in one reading of s.
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
