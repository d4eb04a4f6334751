package offline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// A wrong --out must not cost anybody a folder.
func TestReplaceFolderTouchesOnlyBundles(t *testing.T) {
	tests := map[string]struct {
		file string // in the folder before; "" for none
		made bool   // whether the folder exists
		fine bool
	}{
		"absent":   {made: false, fine: true},
		"empty":    {made: true, fine: true},
		"a bundle": {made: true, file: bundle.IndexFile, fine: true},
		"a user's": {made: true, file: "thesis.txt", fine: false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from, to := filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "out")
			if err := os.Mkdir(from, 0o755); err != nil {
				t.Fatal(err)
			}
			if test.made {
				if err := os.Mkdir(to, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if test.file != "" {
				if err := os.WriteFile(filepath.Join(to, test.file), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := replaceFolder(from, to); (err == nil) != test.fine {
				t.Fatalf("got %v", err)
			}
			_, err := os.Stat(filepath.Join(to, test.file))
			if !test.fine && err != nil {
				t.Errorf("the file is gone: %v", err)
			}
		})
	}
}

// A lab that was killed leaves gigabytes, which nothing else removes.
func TestSweepRemovesUnfinishedBundles(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	for _, name := range []string{".bundle-1", "bundle", "lab"} {
		if err := os.MkdirAll(filepath.Join(cache, "cluster-init", name, "blobs"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "cluster-init", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v (%v)", left, err)
	}
}
