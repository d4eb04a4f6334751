package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// built returns the folder of the site, and its pages.
func built(t *testing.T) (folder string, pages []string) {
	t.Helper()
	folder = t.TempDir()
	if err := build("..", folder); err != nil {
		t.Fatal(err)
	}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 50 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return folder, pages
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	id        = regexp.MustCompile(` id="([^"]+)"`)
)

// Every reference of every page leads to a file of the site and, where it has an anchor, to an ID in it.
func TestReferencesLeadSomewhere(t *testing.T) {
	folder, pages := built(t)
	text, ids := map[string]string{}, map[string][]string{}
	for _, page := range pages {
		content, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Fatal(err)
		}
		text[page] = string(content)
		for _, match := range id.FindAllStringSubmatch(text[page], -1) {
			ids[page] = append(ids[page], match[1])
		}
	}
	for _, page := range pages {
		for _, match := range reference.FindAllStringSubmatch(text[page], -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			to := path.Join(path.Dir(page), file)
			if file == "" {
				to = page
			}
			if _, err := os.Stat(filepath.Join(folder, to)); err != nil {
				t.Errorf("%s: %s leads nowhere", page, match[1])
			} else if anchor != "" && !slices.Contains(ids[to], anchor) {
				t.Errorf("%s: %s leads to no heading", page, match[1])
			}
		}
	}
}

// No page is wider than the window: only tables and code scroll, within themselves.
func TestPagesDoNotScrollSideways(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("chromium is not installed, and a skipped test looks like a passed one: make browser")
	} else if err != nil {
		t.Skip("chromium is not installed: `make browser` installs it")
	}
	folder, pages := built(t)
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	for _, width := range []int{360, 1280} {
		var frames strings.Builder
		for _, page := range pages {
			fmt.Fprintf(&frames, `<iframe src="%s" style="width:%dpx;height:600px;border:0"></iframe>`, page, width)
		}
		const script = `<script>onload = () => {
			document.title = [...document.querySelectorAll("iframe")].filter(f => {
				const page = f.contentDocument.documentElement;
				return page.scrollWidth > page.clientWidth;
			}).map(f => f.getAttribute("src")).join(" ") || "none";
		}</script>`
		driver := "<!doctype html><title>not measured</title>" + frames.String() + script
		if err := os.WriteFile(filepath.Join(folder, "driver.html"), []byte(driver), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
			"--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+t.TempDir(), "--window-size=1400,900",
			"--dump-dom", server.URL+"/driver.html")
		c.WaitDelay = time.Second
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		title := regexp.MustCompile(`<title>(.*?)</title>`).FindSubmatch(out)
		if title == nil || string(title[1]) != "none" {
			t.Errorf("%d pixels: these pages scroll sideways: %s", width, title)
		}
	}
}
