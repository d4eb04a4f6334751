package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// An earlier file that others may read, such as a kubeconfig put back by hand, must not pass its mode on.
func TestWriteSetsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	for _, before := range []os.FileMode{0, 0o644, 0o400, 0o600} {
		if before != 0 {
			if err := os.Chmod(path, before); err != nil {
				t.Fatal(err)
			}
		}
		for _, mode := range []os.FileMode{0o600, 0o644} {
			if err := wholefile.Write(path, []byte("new"), mode); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != mode {
				t.Errorf("after mode %v: %v, %v, want %v", before, info.Mode(), err, mode)
			}
		}
	}
}

func TestWriteLeavesNothingWhereItFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Write(path, []byte("new"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if err := wholefile.Write(filepath.Join(dir, "none", "file"), nil, 0o600); err == nil {
		t.Error("a file was written into a folder that does not exist")
	}
}
