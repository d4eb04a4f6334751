package bootstrap

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// Environments that are brought up at the same moment share one Docker network: the first run creates it, the others
// find it.
func TestRunsBesideEachOtherMakeOneNetwork(t *testing.T) {
	folder := t.TempDir()
	script := `#!/bin/sh
cd ` + folder + `
echo "$*" >>calls
case "$1 $2" in
"network ls") [ ! -e made ] || echo 1 ;;
"network inspect") [ "$3" = bridge ] || echo '[{"Id":"1","Name":"kind"}]' ;;
"network create") touch made ;;
esac
`
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, cluster := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Go(func() {
			if err := ensureNetwork(t.Context(), &docker.Client{Binary: filepath.Join(folder, "docker")},
				filepath.Join(folder, "state", cluster)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	calls, err := os.ReadFile(filepath.Join(folder, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if creates := strings.Count(string(calls), "network create"); creates != 1 ||
		!strings.Contains(string(calls), "--label cluster-init.io/created=true") {
		t.Errorf("%d networks were created:\n%s", creates, calls)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "state", "*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}
