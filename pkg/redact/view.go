package redact

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reading is a text after undoing an escaping. Byte i is origin[i] of the original text. A nil origin means that both
// are the same.
type reading struct {
	text   string
	origin []span
}

// span returns the part of the original from which the bytes of the reading come. There must be at least one byte.
func (r reading) span(from, to int) span {
	if r.origin == nil {
		return span{from, to}
	}
	return span{r.origin[from].from, r.origin[to-1].to}
}

// view reads a text. False means that the reading is the same as before.
type view func(reading) (reading, bool)

// views returns the ways to read a text. Text in messages of Kubernetes is escaped up to three times: a manifest in an
// annotation in a log line.
func views() []view {
	escaped := func(n int) view {
		return func(r reading) (reading, bool) {
			changed := false
			for range n {
				if r, changed = decode(r, backslash); !changed {
					return r, false
				}
			}
			return r, true
		}
	}
	then := func(first, second view) view {
		return func(r reading) (reading, bool) {
			r, one := first(r)
			r, two := second(r)
			return r, one || two
		}
	}
	asIs := func(r reading) (reading, bool) { return r, true }
	by := func(step step) view { return func(r reading) (reading, bool) { return decode(r, step) } }
	all := []view{asIs, escaped(1), escaped(2), escaped(3), by(lineBreak), then(escaped(1), by(lineBreak))}
	for _, percentage := range []step{percent, percentAndPlus} {
		all = append(all, by(percentage), then(by(percentage), by(percentage)), then(escaped(1), by(percentage)),
			then(by(percentage), escaped(1)))
	}
	return all
}

// step decodes the beginning of s. It returns the decoded text, and how many bytes that takes in s; 0 means that s
// begins with nothing encoded. The decoded text is never longer than those bytes.
type step func(s string) (string, int)

func decode(r reading, next step) (reading, bool) {
	var out strings.Builder
	var origin []span
	changed := false
	for i := 0; i < len(r.text); {
		text, taken := next(r.text[i:])
		if taken == 0 {
			text, taken = r.text[i:i+1], 1
		} else if !changed {
			changed = true
			out.Grow(len(r.text))
			origin = make([]span, 0, len(r.text))
			out.WriteString(r.text[:i])
			for before := range i {
				origin = append(origin, r.span(before, before+1))
			}
		}
		if changed {
			out.WriteString(text)
			for range len(text) {
				origin = append(origin, r.span(i, i+taken))
			}
		}
		i += taken
	}
	if !changed {
		return r, false
	}
	return reading{text: out.String(), origin: origin}, true
}

// backslash decodes the escapes that JSON, Go and most languages share.
func backslash(s string) (string, int) {
	if len(s) < 2 || s[0] != '\\' {
		return "", 0
	}
	if i := strings.IndexByte(`abfnrtv`, s[1]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1], 2
	}
	switch s[1] {
	case '"', '\'', '\\', '/':
		return s[1:2], 2
	case 'x':
		if n, ok := hex(s, 2, 2); ok {
			return string([]byte{byte(n)}), 4
		}
	case 'u':
		n, ok := hex(s, 2, 4)
		if !ok {
			break
		}
		if utf16.IsSurrogate(rune(n)) && strings.HasPrefix(s[6:], `\u`) {
			if low, ok := hex(s, 8, 4); ok {
				if r := utf16.DecodeRune(rune(n), rune(low)); r != utf8.RuneError {
					return string(r), 12
				}
			}
		}
		return string(rune(n)), 6
	case 'U':
		if n, ok := hex(s, 2, 8); ok && n <= utf8.MaxRune {
			return string(rune(n)), 10
		}
	}
	return "", 0
}

func percent(s string) (string, int) {
	if s[0] == '%' {
		if n, ok := hex(s, 1, 2); ok {
			return string([]byte{byte(n)}), 3
		}
	}
	return "", 0
}

// percentAndPlus decodes as percent does, and a plus as in the query of a URL.
func percentAndPlus(s string) (string, int) {
	if s[0] == '+' {
		return " ", 1
	}
	return percent(s)
}

// lineBreak removes line breaks and the indentation after them, as in wrapped base64.
func lineBreak(s string) (string, int) {
	n := len(s) - len(strings.TrimLeft(s, "\r\n"))
	if n == 0 {
		return "", 0
	}
	return "", n + len(s[n:]) - len(strings.TrimLeft(s[n:], " \t"))
}

// unwrapped returns s as the view by lineBreak reads it.
func unwrapped(s string) string {
	r, _ := decode(reading{text: s}, lineBreak)
	return r.text
}

func hex(s string, at, digits int) (uint64, bool) {
	if len(s) < at+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[at:at+digits], 16, 32)
	return n, err == nil
}
