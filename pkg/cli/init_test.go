package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is taken back leaves no folder behind that was made for it, and every folder that was there before.
func TestTakeBackLeavesNoFolder(t *testing.T) {
	root := t.TempDir()
	for folder, files := range map[string]map[string][]byte{
		"one": {"a": nil}, "two/below/it": {"a": nil, "b": nil}, ".": {"c": nil},
		"three/cut": {"a": nil, "a/below": nil}, // the second file cannot be written
	} {
		written, err := writeNew(filepath.Join(root, folder), files)
		if (err != nil) != strings.HasSuffix(folder, "cut") {
			t.Errorf("%s: %v", folder, err)
		}
		if err := written.takeBack(); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if written, err := writeNew(filepath.Join(root, "file", "below"), nil); err == nil || len(written) > 0 {
		t.Errorf("below a file: %v, %v", written, err)
	}
}

// The folder is pasted into a shell as one word.
func TestShellWord(t *testing.T) {
	for dir, want := range map[string]string{"mine": "./mine", "/x/y": "/x/y", "my env": "'./my env'", "~": "'./~'",
		"a#b!c{d": "'./a#b!c{d'", "a\nb": `$'./a\u000ab'`} {
		if got := shellWord(dir); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
}
