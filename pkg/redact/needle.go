package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"slices"
	"sort"
	"strings"
)

// needle is a string that is looked for.
type needle struct {
	text string
	core bool // a part of the base64 of a secret: the characters next to it hold the rest of its first and last byte
}

// forms are the strings that give a secret away. Most escapings are undone by views; they are here as well, so that
// what is around a secret cannot make them read it otherwise.
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
	also(string([]rune(secret))) // what JSON makes of bytes that are no UTF-8
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

// jsonEscaped is s as a string in JSON, without the quotes.
func jsonEscaped(s string, html bool) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if err := encoder.Encode(s); err != nil { // a string has no error
		return s
	}
	return strings.TrimSuffix(out.String(), "\n")[1 : out.Len()-2]
}

// core is the part of the base64 of something with the secret in it that does not depend on what is around the secret:
// shift is how many bytes of a group of three come before it.
func core(alphabet *base64.Encoding, secret string, shift int) string {
	encoded := alphabet.EncodeToString(append(make([]byte, shift), secret...))
	from := (shift*8 + 5) / 6
	to := (shift + len(secret)) * 8 / 6
	return encoded[from:to]
}

// needles are strings that are looked for, all at once.
type needles struct {
	byStart map[uint32][]needle // by their first four bytes
	seen    [1 << 16]bool       // whether there are any with such a start, so that most places need no look at the map
}

func (n *needles) add(one needle) {
	if len(one.text) < MinLength {
		return
	}
	start := startOf(one.text)
	if slices.Contains(n.byStart[start], one) {
		return
	}
	n.byStart[start] = append(n.byStart[start], one)
	n.seen[start*hashFactor>>16] = true
}

// hashFactor is Knuth's for multiplicative hashing of 32 bits.
const hashFactor = 2654435761

func startOf(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s[:4])) }

// span is a part of the original text.
type span struct{ from, to int }

// find returns where needles are, in order, as parts of the original text that neither overlap nor touch.
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

// extended includes one more character of base64 on either side, and the padding.
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
