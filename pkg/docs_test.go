package pkg_test

import (
	"fmt"
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
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$")
	title     = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
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

// pages returns the Markdown files below docs/, by their path there.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files(t, func(path, content string) {
		page, is := strings.CutPrefix(filepath.ToSlash(path), "../docs/")
		if is && filepath.Ext(page) == ".md" {
			all[page] = content
		}
	})
	return all
}

// anchors returns the IDs that GitHub and the site give to the headings of a page.
func anchors(content string) map[string]bool {
	all := map[string]bool{}
	for _, match := range title.FindAllStringSubmatch(fenced.ReplaceAllString(content, ""), -1) {
		text := link.ReplaceAllString(strings.TrimSpace(match[1]), "]")
		base := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		id := base
		for i := 1; all[id]; i++ {
			id = fmt.Sprintf("%s-%d", base, i)
		}
		all[id] = true
	}
	return all
}

// A relative link in a page leads to a file of the repository, and its anchor to a heading.
func TestLinksOfPagesLeadToFiles(t *testing.T) {
	found, anchored := 0, 0
	files(t, func(path, content string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			found++
			file := filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			if target == "" {
				file = path
			}
			text, err := os.ReadFile(file)
			if _, missing := os.Stat(file); missing != nil {
				t.Errorf("%s: the link %s leads nowhere", path, match[1])
			} else if anchor != "" && filepath.Ext(file) == ".md" {
				anchored++
				if err != nil || !anchors(string(text))[anchor] {
					t.Errorf("%s: the link %s leads to no heading", path, match[1])
				}
			}
		}
	})
	if found < 200 || anchored < 50 {
		t.Errorf("only %d links, %d of them with an anchor, were found", found, anchored)
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

// A page that is not in the navigation is found by search engines only. Evidence is linked from the pages.
func TestEveryPageIsInTheNavigation(t *testing.T) {
	all := pages(t)
	listed := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^- \[.+\]\((.+\.md)\)`).FindAllStringSubmatch(all["nav.md"], -1) {
		listed[match[1]]++
	}
	for page := range all {
		want := 1
		if page == "nav.md" || strings.HasPrefix(page, "contributing/evidence/") {
			want = 0
		}
		if listed[page] != want {
			t.Errorf("docs/nav.md lists %s %d times, want %d", page, listed[page], want)
		}
	}
}

// Pages for users say works, lab only or never ran. How that is known is in docs/contributing/evidence.
func TestPagesForUsersHaveNoEvidence(t *testing.T) {
	never := regexp.MustCompile(`(?i)(has|have) never (run|been)|never ran (on|with|here)|by hand only|no user's`)
	testName := regexp.MustCompile(`\bTest[A-Z]\w+`)
	word := regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	for page, content := range pages(t) {
		if strings.HasPrefix(page, "contributing/") {
			continue
		}
		for _, found := range append(never.FindAllString(content, -1), testName.FindAllString(content, -1)...) {
			t.Errorf("docs/%s: %q belongs to the evidence", page, found)
		}
		for _, found := range word.FindAllString(content, -1) {
			if found != "ed25519" && strings.ContainsAny(found, "abcdef") && strings.ContainsAny(found, "0123456789") {
				t.Errorf("docs/%s: %q is a commit, and belongs to the evidence", page, found)
			}
		}
	}
}

// TestContributingNamesWhatExists verifies the paths and files that CONTRIBUTING.md sends a newcomer to.
func TestContributingNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		files[filepath.Base(path)], files["pkg/"+path] = true, true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(pkg/[a-z0-9_/.]+|[a-z_]+\\.go)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Fatalf("only %d paths were found", len(named))
	}
	for _, path := range named {
		if !files[strings.TrimSuffix(path[1], "/")] {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", path[1])
		}
	}
}
