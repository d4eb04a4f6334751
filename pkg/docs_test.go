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

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$|`[^`\n]*`")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mention   = regexp.MustCompile(`(?:^|cluster-init/blob/main/|[^/\w.-])(docs/[a-z0-9/-]+\.md)`)
)

// files calls visit with each file of the repository that a person wrote.
func files(t *testing.T, visit func(path, content string)) {
	t.Helper()
	skipped := []string{".git", "bin", "dist", "testdata", "node_modules"}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains(skipped, entry.Name()) {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() || filepath.Ext(path) == ".sum" {
			return nil
		}
		content, err := os.ReadFile(path)
		visit(path, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A relative link in a page leads to a file of the repository. Headings are not looked for.
func TestLinksOfPagesLeadToFiles(t *testing.T) {
	found := 0
	files(t, func(path, content string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, match[1])
			}
		}
	})
	if found < 50 {
		t.Errorf("only %d links were found", found)
	}
}

// Hints, comments and commands name pages that exist.
func TestPagesThatAreMentionedExist(t *testing.T) {
	found := 0
	files(t, func(path, content string) {
		for _, match := range mention.FindAllStringSubmatch(content, -1) {
			found++
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(match[1]))); err != nil {
				t.Errorf("%s mentions %s, which does not exist", path, match[1])
			}
		}
	})
	if found < 20 {
		t.Errorf("only %d mentions were found", found)
	}
}
