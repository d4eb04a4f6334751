package oneline_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

func TestWriterDropsWhatATerminalObeys(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []string
		want   string
	}{
		"lines and tabs stay": {[]string{"a\tb\nc\n"}, "a\tb\nc\n"},
		"escape sequences": {[]string{"\x1b]0;title\x07a\x1b[2Jb\r\x08\x7f\u009b1mc\n"},
			"]0;titlea[2Jb1mc\n"},
		"a C1 byte that is no text":  {[]string{"a\x9bb"}, "a\ufffdb"},
		"bidi controls":              {[]string{"a\u202eb\u2066c\u200fd\u061ce\n"}, "abcde\n"},
		"other line breaks":          {[]string{"a\u2028b\u2029c\u0085d\n"}, "abcd\n"},
		"a character in two writes":  {[]string{"gr\xc3", "\xbc\xc3\x9f", "e\n"}, "grüße\n"},
		"a bidi control in three":    {[]string{"a\xe2", "\x80", "\xaeb\n"}, "ab\n"},
		"commands, where none reads": {[]string{"::error::x\n##[group]y\n"}, "::error::x\n##[group]y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			w := oneline.NewWriter(&out, oneline.Log{}, nil)
			for _, text := range tc.writes {
				if n, err := w.Write([]byte(text)); err != nil || n != len(text) {
					t.Fatalf("%d bytes, %v", n, err)
				}
			}
			if out.String() != tc.want {
				t.Errorf("got  %q\nwant %q", out.String(), tc.want)
			}
		})
	}
}

func TestWriterDisarmsCommandsOfALog(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []string
		want   string
	}{
		"a command":                 {[]string{"::set-env name=A::b\n"}, ": :set-env name=A::b\n"},
		"after blanks, of any kind": {[]string{" \t\u00a0::error::b\n"}, " \t\u00a0: :error::b\n"},
		"in pieces":                 {[]string{":", ":error", "::b\n"}, ": :error::b\n"},
		"after a long row of blanks": {[]string{strings.Repeat(" ", 9000), "::error::b\n"},
			strings.Repeat(" ", 9000) + ": :error::b\n"},
		"hidden by what is dropped":        {[]string{"\x1b:\u202e:error::b\n"}, ": :error::b\n"},
		"an address stays":                 {[]string{"  ::1 localhost\n"}, "  ::1 localhost\n"},
		"in the middle of a line it stays": {[]string{"a ::error::b\n"}, "a ::error::b\n"},
		"the old form, anywhere":           {[]string{"a ##[stop-commands]x\n"}, "a ## [stop-commands]x\n"},
		"the old form, in pieces":          {[]string{"a #", "#", "[stop-commands]x\n"}, "a ## [stop-commands]x\n"},
		"Azure's and TeamCity's": {[]string{"##vso[task.x]y ##teamcity[z]\n"},
			"##vso [task.x]y ##teamcity [z]\n"},
		"a comment stays": {[]string{"## a [b]\n"}, "## a [b]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			w := oneline.NewWriter(&out, oneline.Log{Obeys: true}, nil)
			for _, text := range tc.writes {
				_, _ = w.Write([]byte(text))
			}
			if out.String() != tc.want {
				t.Errorf("got  %q\nwant %q", out.String(), tc.want)
			}
		})
	}
}

// GitHub ignores commands from the first foreign text on, except this program's own sequences. After Close it
// interprets commands again.
func TestWriterStopsCommandsAroundWordsOfOthers(t *testing.T) {
	var out strings.Builder
	w := oneline.NewWriter(&out, oneline.Log{Obeys: true, StopToken: "T"}, nil)
	_, _ = w.Write([]byte("one\n"))
	_, _ = w.Write([]byte("two\n"))
	_ = w.Own("::group::")
	_, _ = w.Write([]byte("::title\n"))
	_, _ = w.Write([]byte("a question: "))
	_ = w.Own("::endgroup::\n")
	_, _ = w.Write([]byte("three"))
	_ = w.Close()
	const want = "::stop-commands::T\none\ntwo\n::T::\n::group::::title\n::stop-commands::T\na question: " +
		"\n::T::\n::endgroup::\n::stop-commands::T\nthree\n::T::\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestWriterFiltersBeforeItDrops(t *testing.T) {
	var out strings.Builder
	w := oneline.NewWriter(&out, oneline.Log{}, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
	_, _ = w.Write([]byte("a secret\n"))
	if out.String() != "a ***\n" {
		t.Errorf("got %q", out.String())
	}
}

func TestSprintfTakesLinesFromTheFormatAlone(t *testing.T) {
	type kind string
	got := oneline.Sprintf("%s %-6s| %v %d %s\nnext\n", "a\nb", kind("c\td"), []string{"e\nf"}, 7, errLines{})
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, "a b c d   | ") ||
		!strings.Contains(got, "[e f] 7 one two\nnext\n") {
		t.Errorf("got %q", got)
	}
}

type errLines struct{}

func (errLines) Error() string { return "one\ntwo" }

// JSON keeps its input, and contains nothing that a terminal or a log interprets.
func TestWriteJSON(t *testing.T) {
	const text = "\x1b[2J\u009b\u202e\u2028\x7f ##[stop-commands]x ###vso[y] grüße"
	var out strings.Builder
	if err := oneline.WriteJSON(&out, map[string]string{text: text}, "  "); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%q has %q", out.String(), r)
		}
	}
	if strings.Contains(out.String(), "##") {
		t.Errorf("%s has a command", out.String())
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back[text] != text {
		t.Errorf("read back %q, %v", back, err)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[31m ##[x]\n", "::error::b\u202e", 3)
	f.Fuzz(func(t *testing.T, one, two string, at int) {
		var whole, pieces strings.Builder
		text := one + two
		_, _ = oneline.NewWriter(&whole, oneline.Log{}, nil).Write([]byte(text + "x"))
		w := oneline.NewWriter(&pieces, oneline.Log{}, nil)
		cut := 0
		if len(text) > 0 {
			cut = max(at, -(at+1)) % len(text)
		}
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:] + "x"))
		if whole.String() != pieces.String() {
			t.Errorf("%q cut at %d: %q and %q", text, cut, whole.String(), pieces.String())
		}
		for _, r := range whole.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q has %q", whole.String(), r)
			}
		}
	})
}
