package evidence

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

func TestPackAndUnpack(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"summary.txt": "what is here",
		"management/objects/nodes.yaml": strings.Repeat("- a: b\n", 100000), CaseName: `{"type":"x"}`} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := Pack(dir, "site", &packed); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{CaseName: `{"type":"x"}`, "nodes.yaml": strings.Repeat("- a: b\n",
		100000)} {
		if got, err := Unpack(bytes.NewReader(packed.Bytes()), name); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for name, content := range map[string][]byte{"nothing": nil, "something else": []byte("PK\x03\x04 a zip"),
		"truncated": packed.Bytes()[:packed.Len()/2], "damaged": damaged(packed.Bytes())} {
		if got, err := Unpack(bytes.NewReader(content), CaseName); err == nil {
			t.Errorf("%s: no error, %q", name, got)
		}
	}
	if _, err := Unpack(bytes.NewReader(nil), CaseName); !errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := Unpack(bytes.NewReader(packed.Bytes()), "other"); err == nil ||
		!strings.Contains(err.Error(), "there is no file other in it") {
		t.Error(err)
	}
	if err := Pack(filepath.Join(dir, "nowhere"), "site", &packed); err == nil {
		t.Error("a folder that is not there was packed")
	}
}

// damaged has other bytes in its middle.
func damaged(content []byte) []byte {
	out := bytes.Clone(content)
	for i := len(out) / 3; i < len(out)*2/3; i++ {
		out[i] ^= 0xff
	}
	return out
}

// A small file that claims to be a large one is refused before it is large.
func TestUnpackRefusesABomb(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(300<<20), file.Close()); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := Pack(dir, "site", &packed); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(bytes.NewReader(packed.Bytes()), CaseName); !errors.Is(err, unpack.ErrTooLarge) {
		t.Errorf("%d bytes: %v", packed.Len(), err)
	}
}

// Names come from clouds and engines: they stay in the folder, and none takes another's place.
func TestNamesOfOthersStayInTheFolder(t *testing.T) {
	above := t.TempDir()
	f, err := newFolder(filepath.Join(above, "artifacts"), redact.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../x", "..", "a/../../b", "c\x1b[2J", "c-[2J", "", ".", strings.Repeat("n", 400),
		"/etc/passwd", "-rf"} {
		f.text(machinesName+"/"+pathElement(name)+".console.txt", "what a machine says", "said\x1b[31m by "+name)
	}
	if len(f.failed) > 0 || len(f.files) != 10 {
		t.Fatalf("%d files, %v", len(f.files), f.failed)
	}
	entries, err := os.ReadDir(filepath.Join(above, "artifacts", machinesName))
	if err != nil || len(entries) != 10 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(above, "artifacts", machinesName, e.Name()))
		if err != nil || strings.ContainsRune(string(text), '\x1b') || strings.HasPrefix(e.Name(), "-") {
			t.Errorf("%q: %q, %v", e.Name(), text, err)
		}
	}
	if others, err := os.ReadDir(above); err != nil || len(others) != 1 {
		t.Errorf("outside: %v, %v", others, err)
	}
}
