package unpack_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	pipe, plain := filepath.Join(dir, "pipe"), filepath.Join(dir, "plain")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plain, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path string
		most int64
		want string // in the error; empty: it is read
	}{
		"a file":               {plain, 3, ""},
		"one that is too long": {plain, 2, "more than"},
		"a pipe":               {pipe, 3, "no regular file"},
		"a device":             {"/dev/zero", 3, "no regular file"},
		"a folder":             {dir, 3, "is a directory"},
		"nothing":              {filepath.Join(dir, "no"), 3, "no such file"},
	} {
		content, err := unpack.File(tc.path, tc.most)
		if tc.want == "" && (err != nil || string(content) != "abc") {
			t.Errorf("%s: %q, %v", name, content, err)
		}
		if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}
