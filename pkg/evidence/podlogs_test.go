package evidence

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// The newest lines of a long log say why the container failed. The first kept line is whole: half a secret would not be
// found.
func TestLongLogsKeepTheNewestLines(t *testing.T) {
	const pods = `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"namespace":"default","name":"long"},
"status":{"phase":"Pending","containerStatuses":[{"name":"a","state":{"running":{}}}]}}]}`
	var log strings.Builder
	for i := range 3 * logBytes / (8 << 10) {
		fmt.Fprintf(&log, "line %d token hunter22 %s\n", i, strings.Repeat("x ", 4<<10))
	}
	log.WriteString("the newest line\n")
	api := fakeAPI(t, "management", map[string]string{"/api/v1/secrets": `{"kind":"SecretList","apiVersion":"v1"}`,
		"/api/v1/pods": pods, "/api/v1/namespaces/default/pods/long/log": log.String()})
	dir := filepath.Join(t.TempDir(), "artifacts")
	c := Collector{Dir: dir, Redactor: redact.New("hunter22"), Clusters: clusters(api), Cluster: "demo"}
	if err := c.Collect(t.Context(), failed()); err != nil {
		t.Fatal(err)
	}
	text := files(t, dir)["management/logs/default.long.a.log"]
	if !strings.HasSuffix(text, "\nthe newest line\n") || !strings.HasPrefix(text, "line ") {
		t.Errorf("the log begins with %.40q and ends with %q", text, text[max(0, len(text)-40):])
	}
	if len(text) > logBytes || len(text) < logBytes-2*(8<<10) {
		t.Errorf("the log has %d bytes, want at most %d", len(text), logBytes)
	}
}

// The code of the outermost fault decides the exit code, and several faults may have one message.
func TestTheFirstCodeOfAMessageStays(t *testing.T) {
	inner := fault.New(fault.PivotFailed, "paused", "")
	if got := chain(fault.Wrap(inner, fault.PivotRefused, "")); len(got) != 1 || got[0] != "[pivot/refused] paused" {
		t.Errorf("%q", got)
	}
}

func TestLongNamesAreShortened(t *testing.T) {
	for _, length := range []int{maxNameLength, maxNameLength + 1, 2 * maxNameLength} {
		name := fileName(strings.Repeat("a", length/2) + strings.Repeat("b", length-length/2))
		if len(name) != maxNameLength || name[0] != 'a' || name[len(name)-1] != 'b' {
			t.Errorf("%d bytes give %d bytes: %s", length, len(name), name)
		}
	}
}
