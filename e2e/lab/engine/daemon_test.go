package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A pid file that outlived its daemon may name any process; Stop must not end that one.
func TestOwnPIDIgnoresAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, pidName)
	if pid, err := ownPID(dir); pid != 0 || err != nil {
		t.Errorf("without a file: %d, %v", pid, err)
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		t.Fatal(err)
	}
	if pid, err := ownPID(dir); pid != 0 || err != nil {
		t.Errorf("this test is taken for a dockerd: %d, %v", pid, err)
	}
	for _, broken := range []string{"", "x", "0", "1", "-5"} {
		if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		if pid, err := ownPID(dir); err == nil {
			t.Errorf("pid file %q gave %d and no error", broken, pid)
		}
	}
}
