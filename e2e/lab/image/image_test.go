package image

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// digestOf builds the same image from entries in the given order and of files with the given time.
func digestOf(t *testing.T, modified time.Time, reverse bool, content string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(source, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(source, modified, modified); err != nil {
		t.Fatal(err)
	}
	entries := []Entry{{Path: "tmp/", Mode: 0o1777}, {Path: "manager", Source: source, Mode: 0o755},
		{Path: "etc/passwd", Content: []byte("root")}}
	if reverse {
		slices.Reverse(entries)
	}
	layer, err := WriteLayer(t.TempDir(), entries)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Assemble(v1.Config{Entrypoint: []string{"/manager"}}, layer)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(made); err != nil {
		t.Fatal(err)
	}
	digest, err := made.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func TestDigestsDependOnContentOnly(t *testing.T) {
	first := digestOf(t, time.Unix(1, 0), false, "x")
	if again := digestOf(t, time.Unix(1e9, 0), true, "x"); again != first {
		t.Errorf("time or order changed the digest: %s, %s", first, again)
	}
	if other := digestOf(t, time.Unix(1, 0), false, "y"); other == first {
		t.Error("other content has the same digest")
	}
}

func TestRootLayerLeavesOutDevicesAndUnwanted(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "rootfs.tar")
	file, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(file)
	for _, header := range []*tar.Header{
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./dev/console", Typeflag: tar.TypeChar, Mode: 0o600},
		{Name: "./etc/keep", Typeflag: tar.TypeReg, Mode: 0o644, Uid: 42, ModTime: time.Now()},
		{Name: "./etc/unwanted", Typeflag: tar.TypeReg, Mode: 0o644},
	} {
		if err := out.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	layer, err := WriteRootLayer(t.TempDir(), archive, func(name string) bool { return name == "etc/unwanted" })
	if err != nil {
		t.Fatal(err)
	}
	content, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	var names []string
	in := tar.NewReader(content)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if header.Uid != 42 || header.ModTime.Unix() != 0 {
			t.Errorf("%s: owner %d, time %s", header.Name, header.Uid, header.ModTime)
		}
	}
	if got := strings.Join(names, " "); got != "./etc/keep" {
		t.Errorf("got %s", got)
	}
}
