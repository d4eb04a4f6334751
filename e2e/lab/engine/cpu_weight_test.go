package engine

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

func TestContainersWeighMoreThanOneProcess(t *testing.T) {
	v1 := t.TempDir()
	if err := os.WriteFile(filepath.Join(v1, "cpu.shares"), []byte("1024\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again with the group that is there
		weighContainers(v1, progress.New(io.Discard))
		got, err := os.ReadFile(filepath.Join(v1, "docker", "cpu.shares"))
		if err != nil || string(got) != containersWeight {
			t.Errorf("the containers weigh %q, %v", got, err)
		}
	}
	v2 := t.TempDir()
	weighContainers(v2, progress.New(io.Discard))
	if left, err := os.ReadDir(v2); err != nil || len(left) > 0 {
		t.Errorf("without a controller for CPU it makes %v, %v", left, err)
	}
}
