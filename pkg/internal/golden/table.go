package golden

import (
	"os"
	"strings"
	"testing"
)

// Table checks one table of a Markdown page, which begins with the line header and ends at an empty line; with -update
// it writes the rows into the page. The path is relative to the test's package.
func Table(t *testing.T, path, header string, rows []string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), header+"\n")
	if !found {
		t.Fatalf("%s has no table %q", path, header)
	}
	_, after, more := strings.Cut(rest, "\n\n")
	if more {
		after = "\n" + after
	}
	underline := strings.Repeat("|---", strings.Count(header, "|")-1) + "|"
	table := strings.Join(append([]string{header, underline}, rows...), "\n") + "\n"
	Check(t, "../"+path, []byte(before+table+after)) // Check looks from testdata
}
