package image

import (
	"archive/tar"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestDifference(t *testing.T) {
	base := archiveOf(t, entry{"./", "", 0o755}, entry{"./etc/", "", 0o755}, entry{"./etc/same", "1", 0o644},
		entry{"./etc/changed", "1", 0o644}, entry{"./etc/mode", "1", 0o644}, entry{"./gone", "1", 0o644})
	archive := archiveOf(t, entry{"./", "", 0o755}, entry{"./etc/", "", 0o755}, entry{"./etc/same", "1", 0o644},
		entry{"./etc/changed", "2", 0o644}, entry{"./etc/mode", "1", 0o600}, entry{"./usr/", "", 0o755},
		entry{"./usr/lib/", "", 0o755},
		entry{"./usr/lib/new", "1", 0o644}, entry{"./var/", "", 0o755})
	different, err := Difference(base, archive)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"etc", "etc/changed", "etc/mode", "usr", "usr/lib", "usr/lib/new", "var"}
	if got := slices.Sorted(maps.Keys(different)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

type entry struct {
	name, content string
	mode          int64
}

// archiveOf writes a tar file of the entries.
func archiveOf(t *testing.T, entries ...entry) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rootfs.tar")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	out := tar.NewWriter(file)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if e.content == "" {
			header.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
