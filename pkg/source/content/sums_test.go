package content

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestParseSums(t *testing.T) {
	a, b := Sum([]byte("a")), Sum([]byte("b"))
	for _, tc := range []struct {
		name, text string
		want       Sums
		says       string // of the error
	}{
		{"nothing", "", Sums{}, ""},
		{"comments and empty lines", "# x\n\n  # y\n\r\n", Sums{}, ""},
		{"two", a + "  https://example.org/a\n" + b + " *https://example.org/b\r\n",
			Sums{"https://example.org/a": a, "https://example.org/b": b}, ""},
		{"no newline at the end", a + "  https://example.org/a", Sums{"https://example.org/a": a}, ""},
		{"upper case", strings.ToUpper(a) + "  https://example.org/a", Sums{"https://example.org/a": a}, ""},
		{"twice the same", a + "  https://example.org/a\n" + a + "  https://example.org/a",
			Sums{"https://example.org/a": a}, ""},
		{"twice with other digests", "#\n" + a + "  https://example.org/a\n" + b + "  https://example.org/a", nil,
			"f.txt:3: another digest"},
		{"digest only", a, nil, "f.txt:1: no SHA-256 digest"},
		{"digest and spaces", "\n" + a + "  ", nil, "f.txt:2: no SHA-256 digest"},
		{"digest that is too short", a[:62] + "  https://example.org/a", nil, "f.txt:1: no SHA-256 digest"},
		{"digest of SHA-512", a + b + "  https://example.org/a", nil, "f.txt:1: no SHA-256 digest"},
		{"no hex", strings.Repeat("x", 64) + "  https://example.org/a", nil, "f.txt:1: no SHA-256 digest"},
		{"file in place of a URL", a + "  x.yaml", nil, "f.txt:1: no https URL"},
		{"plain http", a + "  http://example.org/a", nil, "f.txt:1: no https URL"},
		{"no host", a + "  https:///a", nil, "f.txt:1: no https URL"},
		{"two URLs", a + "  https://example.org/a https://example.org/b", nil, "f.txt:1: no https URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseSums("f.txt", []byte(tc.text))
			if tc.says == "" {
				if err != nil || !maps.Equal(got, tc.want) {
					t.Errorf("got %v (%v), want %v", got, err, tc.want)
				}
				return
			}
			if fault.CodeOf(err) != fault.EnvironmentInvalid || fault.HintOf(err) == "" ||
				!strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v (%s) lacks %q", err, fault.CodeOf(err), tc.says)
			}
		})
	}
}

func TestReadSums(t *testing.T) {
	if got, err := ReadSums(fstest.MapFS{}); err != nil || len(got) != 0 {
		t.Errorf("a content without the file: %v (%v)", got, err)
	}
	fsys := fstest.MapFS{SumsFile: {Data: []byte("x")}}
	if _, err := ReadSums(fsys); err == nil || !strings.Contains(err.Error(), "kustomize-components/sums.txt:1:") {
		t.Errorf("got %v", err)
	}
	if _, err := ReadSums(fstest.MapFS{SumsFile + "/folder": {}}); fault.CodeOf(err) != fault.EnvironmentInvalid {
		t.Errorf("a file that cannot be read pins nothing: %v", err)
	}
}

// What is read is written, and read again, as the same; nothing passes that is no digest of an https URL.
func FuzzParseSums(f *testing.F) {
	f.Add([]byte("# x\n" + Sum(nil) + "  https://example.org/a\n"))
	f.Add([]byte(strings.ToUpper(Sum(nil)) + " *https://example.org/a?b=c#d\r\n\n"))
	f.Add([]byte(Sum(nil) + "  https://[::1]:8443/%20\n" + Sum([]byte("a")) + "  https://[::1]:8443/%20\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := ParseSums("f.txt", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "parse f.txt:") {
				t.Errorf("error %q names no line", err)
			}
			return
		}
		for address, sum := range sums {
			if !strings.HasPrefix(strings.ToLower(address), "https://") || len(sum) != 64 ||
				strings.ToLower(sum) != sum {
				t.Errorf("pinned %q as %q", address, sum)
			}
		}
		again, err := ParseSums("f.txt", sums.Text())
		if err != nil || !maps.Equal(sums, again) {
			t.Errorf("%v was read again as %v (%v)", sums, again, err)
		}
	})
}
