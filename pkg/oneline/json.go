package oneline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// WriteJSON writes a value as JSON and a line break. A string keeps all its characters: those that a terminal or a CI
// system interprets are escaped.
func WriteJSON(out io.Writer, value any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := out.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes the characters that must not reach a terminal or a log. Outside of strings JSON has none of them
// except line breaks.
func escapeJSON(document []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(document))
	for i := 0; i < len(document); {
		r, size := utf8.DecodeRune(document[i:])
		switch {
		case r != '\n' && (obeyed(r) || visible(r) < 0):
			fmt.Fprintf(&out, `\u%04x`, r)
		case r == '#' && i > 0 && document[i-1] == '#': // "##" begins a command of GitHub, Azure or TeamCity
			out.WriteString(`\u0023`)
		default:
			out.Write(document[i : i+size])
		}
		i += size
	}
	return out.Bytes()
}
