package oneline_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

func TestOf(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		most int
		want string
	}{
		"lines and blanks":                  {" a\n\tb   c\r\n", 0, "a b c"},
		"what a terminal would obey":        {"a\x1b[2Jb\x07\u009bc", 0, "a [2Jb c"},
		"as long as it may be":              {"äöü", 3, "äöü"},
		"longer, by characters not bytes":   {"äöüß", 3, "äö…"},
		"nothing":                           {"\n", 5, ""},
		"a limit that leaves only the mark": {"ab", 1, "…"},
	} {
		if got := oneline.Of(tc.text, tc.most); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Of the message of an error, the cause stays.
func TestEnds(t *testing.T) {
	const text = "ClusterRole/lab-cni dry-run failed: failed to get server groups: Get " +
		"\"https://192.0.2.1:6443/api?timeout=30s\": dial tcp 192.0.2.1:6443: i/o timeout"
	for most, want := range map[int]string{
		0: text, len(text): text, 60: "ClusterRole/lab-cni dry-run failed: fai….1:6443: i/o timeout", 3: "C…t", 1: "…",
	} {
		if got := oneline.Ends(text, most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("a\x1b\n b", 2)
	f.Fuzz(func(t *testing.T, text string, most int) {
		for _, got := range []string{oneline.Of(text, most), oneline.Ends(text, most)} {
			for _, r := range got {
				if unicode.IsControl(r) {
					t.Errorf("%q has %q", got, r)
				}
			}
			if most > 0 && utf8.RuneCountInString(got) > most {
				t.Errorf("%q is longer than %d", got, most)
			}
		}
	})
}
