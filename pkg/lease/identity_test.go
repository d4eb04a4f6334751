package lease_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/lease"
)

func TestAStateFolderKeepsItsID(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "not", "there")
	if id, err := lease.ID(folder); err != nil || id != "" {
		t.Errorf("before any run it is %q, %v", id, err)
	}
	first, err := lease.MakeID(folder)
	if err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	again, err := lease.MakeID(folder)
	if read, readErr := lease.ID(folder); err != nil || readErr != nil || again != first || read != first {
		t.Errorf("%q, %q, want %q (%v, %v)", again, read, first, err, readErr)
	}
	if other, err := lease.MakeID(t.TempDir()); err != nil || other == first {
		t.Errorf("two folders have the id %q (%v)", other, err)
	}
	holder, err := lease.Holder(first)
	if err != nil || !strings.Contains(holder, first) {
		t.Errorf("the holder is %q, %v", holder, err)
	}
	if info, err := os.Stat(filepath.Join(folder, "id")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAnIDThatCannotBeReadIsNotNone(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "id"), 0o700); err != nil {
		t.Fatal(err)
	}
	if id, err := lease.MakeID(folder); err == nil {
		t.Errorf("it is %q", id)
	}
}
