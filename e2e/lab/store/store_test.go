package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestKeyKeepsTheBordersOfItsParts(t *testing.T) {
	if Key("ab", "c") == Key("a", "bc") || Key("a") == Key("a", "") {
		t.Error("different parts have one key")
	}
	if again := Key("a", "b"); again != Key("a", "b") {
		t.Error("the same parts have two keys")
	}
}

func TestFileKeyChangesWithTheContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.mod")
	keys := map[string]bool{}
	for _, content := range []string{"require x v1.0.0", "require x v1.0.1"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		key, err := FileKey(file)
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Error("a changed pin has the same key")
	}
}

func TestGetBuildsOnce(t *testing.T) {
	cache := At(t.TempDir())
	builds := 0
	build := func(dir string) error {
		builds++
		return os.WriteFile(filepath.Join(dir, "f"), nil, 0o644)
	}
	for range 2 {
		dir, err := cache.Get("bin", "x", "1", build)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "f")); err != nil {
			t.Error(err)
		}
	}
	if _, err := cache.Get("bin", "x", "2", build); err != nil || builds != 2 {
		t.Errorf("want one build for each key, got %d (%v)", builds, err)
	}
}

func TestGetLeavesNothingOfAFailedBuild(t *testing.T) {
	root := t.TempDir()
	failure := errors.New("broken")
	_, err := At(root).Get("bin", "x", "1", func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Fatalf("got %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(root, "bin")); err != nil || len(entries) != 0 {
		t.Errorf("left over: %v (%v)", entries, err)
	}
}

func TestSweepRemovesOnlyWhatNobodyUses(t *testing.T) {
	root := t.TempDir()
	cache := At(root)
	whole, err := cache.Get("bin", "x", "1", func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	leftover, building := filepath.Join(root, "bin", ".building-y-123"), filepath.Join(root, "bin", ".building-y-456")
	interrupted := time.Now().Add(-unfinished - time.Minute)
	if err := errors.Join(os.Mkdir(leftover, 0o755), os.Chtimes(leftover, interrupted, interrupted),
		os.Mkdir(building, 0o755)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-keep - time.Hour)
	unused, used := filepath.Join(root, "bin", "z-1"), filepath.Join(root, "bin", "z-2")
	for _, folder := range []string{unused, used} {
		if err := errors.Join(os.Mkdir(folder, 0o755), os.Chtimes(folder, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cache.Get("bin", "z", "2", func(string) error { return errors.New("built again") }); err != nil {
		t.Fatal(err)
	}
	if err := cache.Sweep(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{leftover, unused} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (%v)", gone, err)
		}
	}
	for _, kept := range []string{whole, used, building} { // another process is at work on the last
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
	}
}
