package bootstrap

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// pullingEngine is a docker CLI that has the node image or not, and says this while the engine pulls.
func pullingEngine(t *testing.T, has bool, says string) *docker.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docker")
	inspect := `[ -e ` + path + `.has ] || { echo "Error: No such image: node" >&2; exit 1; }; echo '[{"Id":"1"}]'`
	if has {
		if err := os.WriteFile(path+".has", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\ncase \"$1\" in\nimage) " + inspect + " ;;\npull) cat <<'EOF'\n" + says +
		"\nEOF\ncase '" + says + "' in *Unknown*) echo 'manifest unknown' >&2; exit 1 ;; *complete*) touch " + path +
		".has ;; esac ;;\nesac\n"
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
		"the engine has it": {true, "", nil},
		"it is pulled": {false, "1: Pulling fs layer\n1: Pull complete", []string{"pulling node:v1",
			"pulling node:v1, 0 of 1 layers", "pulling node:v1, 1 of 1 layers", "pulled node:v1 in "}},
		"no output": {false, "", []string{"pulling node:v1"}},
		"it cannot be pulled": {false, "Unknown", []string{"pulling node:v1",
			"leaving the pull to kind: pull image node:v1: docker pull: "}},
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
