package docker

import (
	"strings"
	"testing"
)

func TestLogsKeepWholeLinesOfTheEnd(t *testing.T) {
	c, calls := fakeDocker(t, `for i in 1 2 3; do echo "out line $i"; done; echo "a warning" >&2`)
	got, err := c.Logs(t.Context(), "n", 500, 1<<20)
	if err != nil || got != "out line 1\nout line 2\nout line 3\na warning\n" {
		t.Errorf("got %q (%v)", got, err)
	}
	if calls()[0] != "logs --tail 500 n" {
		t.Errorf("calls %q", calls())
	}
	got, err = c.Logs(t.Context(), "n", 500, 50) // 25 bytes of each stream
	if err != nil || got != "(cut: only the end is kept)\nout line 2\nout line 3\na warning\n" {
		t.Errorf("cut: %q (%v)", got, err)
	}
	c, _ = fakeDocker(t, fails(1, "Error response from daemon: No such container: n"))
	if got, err := c.Logs(t.Context(), "n", 1, 100); err == nil || got != "" {
		t.Errorf("of no container: %q (%v)", got, err)
	}
}

func TestOutputOfACommand(t *testing.T) {
	c, calls := fakeDocker(t, `echo first; echo second; echo "not this" >&2`)
	if got, err := c.Output(t.Context(), "n", []string{"journalctl", "--quiet"}, 10); err != nil ||
		got != "(cut: only the end is kept)\nsecond\n" {
		t.Errorf("got %q (%v)", got, err)
	}
	if calls()[0] != "exec n journalctl --quiet" {
		t.Errorf("calls %q", calls())
	}
}

func TestInspectAllAndTable(t *testing.T) {
	c, _ := fakeDocker(t, says(`[{"Name":"/n","Config":{"Env":["A=b"]}}]`))
	if all, err := c.InspectAll(t.Context(), "n"); err != nil || all["Name"] != "/n" {
		t.Errorf("got %v (%v)", all, err)
	}
	c, _ = fakeDocker(t, says(`[]`))
	if _, err := c.InspectAll(t.Context(), "n"); err == nil {
		t.Error("no object passes for one")
	}
	c, calls := fakeDocker(t, says("NAMES\nn"))
	if table, err := c.Table(t.Context()); err != nil || table != "NAMES\nn\n" ||
		!strings.Contains(calls()[0], "--all") {
		t.Errorf("got %q (%v), %q", table, err, calls())
	}
}
