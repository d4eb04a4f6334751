package bootstrap

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// pullingEngine is a docker CLI that has the node image or not, and says this while the engine pulls.
func pullingEngine(t *testing.T, has bool, says string) *docker.Client {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	path := filepath.Join(t.TempDir(), "docker")
	inspect := `[ -e ` + path + `.has ] || { echo "Error: No such image: node" >&2; exit 1; }; echo '[{"Id":"1"}]'`
	if has {
		if err := os.WriteFile(path+".has", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\ncase \"$1\" in\nimage) " + inspect + " ;;\nsystem) while read -r line; do [ ${#line} -gt 1 " +
		"] || break; done\nprintf 'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n'\ncat <<'EOF'\n" + says +
		"\nEOF\ncase '" + says + "' in *complete*) touch " + path + ".has ;; esac ;;\nesac\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &docker.Client{Binary: path}
}

func TestTheNodeImageIsPulled(t *testing.T) {
	cases := map[string]struct {
		has  bool
		says string
		want []string
	}{
		"it is there": {true, "", nil},
		"it comes": {false,
			`{"status":"Downloading","progressDetail":{"current":1,"total":2097152},"id":"1"}` + "\n" +
				`{"status":"Pull complete","id":"1"}`, []string{"pulling node:v1", "pulled 2.0 MiB in "}},
		"it says nothing": {false, "", []string{"pulling node:v1"}},
		"it cannot be pulled": {false, `{"error":"manifest unknown"}`,
			[]string{"pulling node:v1", "leaving the pull to kind: pull image node:v1: manifest unknown"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			notes := &pipeline.Notes{}
			c := Cluster{Wanted: Wanted{Engine: pullingEngine(t, tc.has, tc.says),
				Supplies: Supplies{NodeImage: "node:v1"}}}
			if err := c.pullNodeImage(t.Context(), notes); err != nil {
				t.Error(err)
			}
			if !slices.EqualFunc(notes.Seen, tc.want, strings.HasPrefix) {
				t.Errorf("said %q, want %q", notes.Seen, tc.want)
			}
		})
	}
}

func TestAPullSaysBytesAndRate(t *testing.T) {
	notes := &pipeline.Notes{}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := start
	p := pull{image: "node:v1", report: notes, now: func() time.Time { return at }, began: start}
	for second, come := range []int64{0, 1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20, 6 << 20, 7 << 20, 8 << 20,
		9 << 20, 10 << 20} {
		at = start.Add(time.Duration(second) * time.Second)
		all := int64(0)
		if second > 6 {
			all = 20 << 20
		}
		p.heard(come, all)
	}
	p.end()
	want := []string{"pulling node:v1, 5.0 MiB (1.0 MiB/s)", "pulling node:v1, 10.0 MiB of 20.0 MiB (1.0 MiB/s)",
		"pulled 10.0 MiB in 10s (1.0 MiB/s)"}
	if !slices.Equal(notes.Seen, want) {
		t.Errorf("%q, want %q", notes.Seen, want)
	}
}
