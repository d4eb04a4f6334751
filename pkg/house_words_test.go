package pkg_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// formerWords are words of a private dialect, each with the field's word and how often it may still stand in Go, YAML
// and Markdown. A count only goes down: when you replace some, lower the bound.
var formerWords = []struct {
	pattern, now string
	most         int
}{
	{`cures?`, "remedy, or fix", 2},
	{`farewell`, "delete and wait", 0},
	{`doom(ed)?`, "permanent cause", 0},
	{`hopeless`, "unrecoverable", 0},
	{`its own affair`, "unmanaged", 0},
	{`nobody`, "not known, or unmanaged", 107},
	{`somebody`, "another owner, or another process", 32},
	{`made anew`, "recreated", 0},
	{`anew`, "again", 5},
	{`something foreign`, "a resource not managed by cluster-init", 1},
	{`what is ours`, "managed resources", 2},
	{`goes on`, "resumes", 5},
	{`cut off`, "interrupted", 0},
	{`(is|are|was|were) told`, "is reported", 1},
	{`told of`, "reported", 1},
	{`on (the|its) way`, "progressing", 0},
	{`beside`, "at the same time as, or next to", 67},
	{`unasked`, "not checked", 0},
	{`cannot ask`, "not supported", 0},
	{`a look`, "an observation, or a check", 6},
	{`seed project`, "the original telco-cloud-init (Sylva)", 0},
	{`struck|strikes?`, "fault injection", 34},
	{`the matrix`, "the extended end-to-end tests", 0},
	{`all is well|not well`, "healthy, unhealthy", 5},
}

// TestWordsOfTheField counts the former words. The dialect costs every new reader time, so it only shrinks.
func TestWordsOfTheField(t *testing.T) {
	text := proseOfTheHouse(t)
	for _, word := range formerWords {
		n := len(regexp.MustCompile(`(?i)\b(`+word.pattern+`)\b`).FindAllStringIndex(text, -1))
		if n > word.most {
			t.Errorf("%q stands %d times, more than the %d of before: write %s", word.pattern, n, word.most, word.now)
		}
	}
}

// proseOfTheHouse returns all Go, YAML and Markdown of the repository. It leaves out this file, testdata, the
// changelog, the evidence, and pages made from YAML that is counted: they quote.
func proseOfTheHouse(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != ".." && (strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".github" ||
			slices.Contains([]string{"testdata", "bin", "dist", "modules", "evidence"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || slices.Contains([]string{"house_words_test.go", "CHANGELOG.md", "rules.md", "values.md"},
			entry.Name()),
			!slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".tpl"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
