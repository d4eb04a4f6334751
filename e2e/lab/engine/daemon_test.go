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

// A killed daemon leaves its pid file, and the id may be another process's by now.
func TestRemoveStaleKeepsOnlyTheProgramsOwn(t *testing.T) {
	tests := map[string]struct {
		content string
		kept    bool
	}{
		"the program itself": {strconv.Itoa(os.Getpid()), true},
		"another process":    {"1", false},
		"no process":         {"4194305", false}, // above the largest id that Linux gives
		"rubbish":            {"rubbish", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			if err := os.WriteFile(file, []byte(tc.content+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := removeStale(file, filepath.Base(os.Args[0])); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file); (err == nil) != tc.kept {
				t.Errorf("kept: %t, want %t", err == nil, tc.kept)
			}
		})
	}
	if err := removeStale(filepath.Join(t.TempDir(), "none"), "dockerd"); err != nil {
		t.Errorf("no file: %v", err)
	}
}
