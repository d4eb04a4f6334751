package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"sort"
	"strings"
)

// needle is a string to search for.
type needle struct {
	text string
	core bool // a part of the base64 of a secret: the characters next to it encode the rest of its first and last byte
}

// forms returns the strings that reveal a secret. Views decode most escapings. The escaped forms are here as well,
// because the text around a secret may make a view misread it.
func forms(secret string) []needle {
	secret = strings.TrimSpace(secret)
	if len(secret) < MinLength {
		return nil
	}
	all := []needle{{text: secret}}
	also := func(form string) {
		if form != secret {
			all = append(all, needle{text: form})
		}
	}
	also(string([]rune(secret))) // JSON replaces bytes that are not UTF-8
	also(strings.ReplaceAll(secret, "'", "''"))
	also(unwrapped(secret))
	also(url.QueryEscape(secret))
	also(url.PathEscape(secret))
	for _, html := range []bool{false, true} {
		also(jsonEscaped(secret, html))
	}
	for shift := range 3 {
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			all = append(all, needle{core(alphabet, secret, shift), true})
		}
	}
	return all
}

// jsonEscaped returns s as a JSON string without the quotes.
func jsonEscaped(s string, html bool) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if err := encoder.Encode(s); err != nil { // a string always encodes
		return s
	}
	return strings.TrimSuffix(out.String(), "\n")[1 : out.Len()-2]
}

// core returns the part of a base64 text with the secret that does not depend on the bytes around the secret. shift is
// the number of bytes before the secret in a group of three.
func core(alphabet *base64.Encoding, secret string, shift int) string {
	encoded := alphabet.EncodeToString(append(make([]byte, shift), secret...))
	from := (shift*8 + 5) / 6
	to := (shift + len(secret)) * 8 / 6
	return encoded[from:to]
}

// needles are strings to search for, all in one pass.
type needles struct {
	byStart map[uint32][]needle // by their first four bytes
	known   map[needle]bool
	seen    [1 << 16]bool // whether any has such a start: most places need no map lookup
}

func (n *needles) add(one needle) {
	if len(one.text) < MinLength {
		return
	}
	if n.known[one] {
		return
	}
	n.known[one] = true
	start := startOf(one.text)
	n.byStart[start] = append(n.byStart[start], one)
	n.seen[start*hashFactor>>16] = true
}

// hashFactor is Knuth's factor for multiplicative hashing of 32 bits.
const hashFactor = 2654435761

func startOf(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s[:4])) }

// span is a part of the original text.
type span struct{ from, to int }

// find returns the places of needles in the original text, in order. The spans neither overlap nor touch.
func (n *needles) find(r reading) []span {
	var found []span
	text := r.text
	for i := 0; i+MinLength <= len(text); i++ {
		start := uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24
		if !n.seen[start*hashFactor>>16] {
			continue
		}
		for _, one := range n.byStart[start] {
			if !strings.HasPrefix(text[i:], one.text) {
				continue
			}
			from, to := i, i+len(one.text)
			if one.core {
				from, to = extended(text, from, to)
			}
			found = append(found, r.span(from, to))
		}
	}
	return merged(found)
}

// extended includes one more base64 character on either side, and the padding.
func extended(text string, from, to int) (int, int) {
	if from > 0 && isBase64(text[from-1]) {
		from--
	}
	if to < len(text) && isBase64(text[to]) {
		to++
	}
	for to < len(text) && text[to] == '=' {
		to++
	}
	return from, to
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' ||
		c == '_'
}

func merged(spans []span) []span {
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	var out []span
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.from <= out[last].to {
			out[last].to = max(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
