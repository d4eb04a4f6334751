package render_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// recording are the events of a real run: TestMatrixRKE2 at 55c01e5.
func recording(t *testing.T) []event.Event {
	t.Helper()
	content, err := os.ReadFile("../timeline/testdata/up-rke2-capd.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for line := range strings.Lines(string(content)) {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func report(t *testing.T, events []event.Event) string {
	t.Helper()
	page, err := render.Report(events)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestReport(t *testing.T) {
	golden.Check(t, "report.html", []byte(report(t, run())))
	page := report(t, recording(t))
	for _, want := range []string{"<title>cluster-init up rke2-capd</title>", `class="good">done</strong>`,
		"took 4m15.6s",
		"<td class=\"time\">31.5s</td><td class=\"time\">5.1s</td><td>components and management cluster: " +
			"Kustomization/capd</td>", "Components of the management cluster"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

// The picture marks the critical path that the table names, and not the rest.
func TestReportMarksTheCriticalPathInItsPicture(t *testing.T) {
	page := report(t, recording(t))
	_, pictures, _ := strings.Cut(page, "Components of the bootstrap cluster")
	bootstrap, management, _ := strings.Cut(pictures, "Components of the management cluster")
	for _, tc := range []struct{ cluster, picture, name, class string }{
		{"bootstrap", bootstrap, "cert-manager", " critical"}, {"bootstrap", bootstrap, "capd", " critical"},
		{"bootstrap", bootstrap, "capi", ""},
		{"management", management, "cert-manager", " critical"}, {"management", management, "capi", " critical"},
		{"management", management, "capd", ""},
	} {
		node := regexp.MustCompile(`<g><title>Kustomization/` + tc.name +
			`:[^<]*</title><rect[^>]*class="([a-z ]*)"`).FindStringSubmatch(tc.picture)
		if node == nil || node[1] != tc.class {
			t.Errorf("%s in the %s cluster: %q, want %q", tc.name, tc.cluster, node, tc.class)
		}
	}
	edges, critical := strings.Count(page, "<path d="), strings.Count(page, `" class="critical"/>`)
	if critical == 0 || critical >= edges/2 || !strings.Contains(page, "Bold: on the critical path") {
		t.Errorf("%d of %d edges are marked", critical, edges)
	}
}

// The page is opened from a file, by people who trust it: it loads nothing, and what an object says stays text.
func TestReportIsSelfContained(t *testing.T) {
	events := run()
	const evil = `</table><script>alert(1)</script><img src="https://example.org/x">`
	for i := range events {
		events[i] = events[i].Clean(func(string) string { return evil })
	}
	for name, page := range map[string]string{"of a run": report(t, recording(t)),
		"of a hostile one": report(t, events)} {
		if found := regexp.MustCompile(
			`(?i)<(script|img|link|iframe|object|embed)\b|\b(src|href)="|@import|url\(`).FindString(page); found != "" {
			t.Errorf("the page %s has %q", name, found)
		}
	}
}

// Of a run that said nothing, or was interrupted at any event, a page can be made, and its elements are closed.
func TestReportOfAnyPartOfARun(t *testing.T) {
	events := recording(t)
	for n := 0; n <= len(events); n += 7 {
		page := report(t, events[:n])
		d := xml.NewDecoder(strings.NewReader(page))
		d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("after %d events: %v", n, err)
			}
		}
		if n < len(events) && !strings.Contains(page, "interrupted, or still under way") {
			t.Fatalf("after %d events the page does not say that the run has not ended", n)
		}
	}
}
