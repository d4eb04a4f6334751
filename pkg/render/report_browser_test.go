//go:build integration

package render_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

const policy = `content="default-src 'none'; style-src 'unsafe-inline'"`

// measure is put at the end of a copy of the page, whose policy lets it, and writes what it found into the title.
const measure = `<script>
const problems = [];
const across = document.documentElement.scrollWidth - document.documentElement.clientWidth;
if (across > 0) problems.push("the page is " + across + " pixels wider than the window");
for (const node of document.querySelectorAll("svg g")) {
  const box = node.querySelector("rect").getBBox(), text = node.querySelector("text").getBBox();
  if (text.x < box.x || text.x + text.width > box.x + box.width) problems.push("a name is wider than its box: " + node.querySelector("text").textContent);
}
for (const row of document.querySelectorAll(".row")) {
  const lane = row.querySelector(".lane").getBoundingClientRect(), bars = row.querySelectorAll(".lane > div"), end = bars[bars.length - 1].getBoundingClientRect().right;
  if (end > lane.right + 2) problems.push("a bar extends " + Math.round(end - lane.right) + " pixels behind the end of the run: " + row.title);
}
document.title = JSON.stringify({rows: document.querySelectorAll("#timeline .row").length, boxes: document.querySelectorAll("svg rect").length, problems});
</script></body>`

// A browser shows the page from a file without anything in the wrong place, wide and narrow.
func TestReportInABrowser(t *testing.T) {
	for name, page := range map[string]string{"a run": report(t, run()), "a recorded run": report(t, recording(t))} {
		for _, width := range []int{1400, 500} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				measured := strings.Replace(page, policy, "", 1)
				if measured == page {
					t.Fatal("the page has another policy than this test knows")
				}
				var seen struct {
					Rows, Boxes int
					Problems    []string
				}
				title := titleInBrowser(t, strings.Replace(measured, "</body>", measure, 1), width)
				if err := json.Unmarshal([]byte(title), &seen); err != nil {
					t.Fatalf("%v: %s", err, title)
				}
				if seen.Rows == 0 || seen.Boxes == 0 {
					t.Errorf("%d rows and %d boxes", seen.Rows, seen.Boxes)
				}
				for _, p := range seen.Problems {
					t.Error(p)
				}
			})
		}
	}
}

// Whatever came into the page, a browser runs nothing of it.
func TestReportRunsNothing(t *testing.T) {
	page := report(t, run())
	script := `<script>document.title = "ran"</script></body>`
	if title := titleInBrowser(t, strings.Replace(page, "</body>", script, 1), 800); title == "ran" {
		t.Error("the page's policy lets a script run")
	}
	if title := titleInBrowser(t, strings.Replace(strings.Replace(page, policy, "", 1), "</body>", script, 1),
		800); title != "ran" {
		t.Errorf("this test would not see a script: %q", title)
	}
}

// titleInBrowser opens the page from a file in headless Chromium, and returns the title that it has then.
func titleInBrowser(t *testing.T, page string, width int) string {
	t.Helper()
	browser := prerequisite.Program(t, "chromium") // `CI=true make test` installs it
	folder := t.TempDir()
	file := filepath.Join(folder, "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+filepath.Join(folder, "profile"),
		fmt.Sprintf("--window-size=%d,900", width), "--dump-dom", "file://"+file)
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	title := regexp.MustCompile(`(?s)<title>(.*?)</title>`).FindSubmatch(out)
	if title == nil {
		t.Fatalf("no title in %s", out)
	}
	return html.UnescapeString(string(title[1]))
}
