package definitions_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// pack returns a gzipped tar archive of entries; a name that ends in a slash is a folder.
func pack(t *testing.T, entries ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, entry := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: entry[0], Mode: 0o600, Size: int64(len(entry[1]))}
		if strings.HasSuffix(entry[0], "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(entry[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is in an archive is checked as a folder is.
func TestUnpackedContentIsChecked(t *testing.T) {
	const template = "kustomize-components/cluster/x/machine.yaml"
	stale := [][2]string{
		{"./kustomize-components/", ""}, {template, machine}, {definitions.File, "{}"}, {"README.md", "not read"},
	}
	content, err := definitions.Unpack(pack(t, stale...))
	if err != nil {
		t.Fatal(err)
	}
	err = definitions.Check(content)
	if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), at) {
		t.Fatalf("it is not refused: %v", err)
	}
	if _, err := fs.Stat(content, "README.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that no check reads is held in memory: %v", err)
	}
	_, fix, _ := strings.Cut(fault.HintOf(err), "with: ")
	// the later entry counts, as for tar
	corrected := append(slices.Clone(stale), [2]string{"./" + definitions.File, fix})
	content, err = definitions.Unpack(pack(t, corrected...))
	if err != nil {
		t.Fatal(err)
	}
	if err := definitions.Check(content); err != nil {
		t.Errorf("what the hint says is refused: %v", err)
	}
}

// An archive of others writes nowhere, whatever its entries are called, and one that is cut short is no content.
func TestUnpackRefuses(t *testing.T) {
	whole := pack(t, [2]string{"a.yaml", strings.Repeat("x: y\n", 100)})
	for name, archive := range map[string][]byte{
		"no archive":         []byte("a web page"),
		"cut short":          whole[:len(whole)/2],
		"an entry outside":   pack(t, [2]string{"../a.yaml", "x"}),
		"an entry of a root": pack(t, [2]string{"/a.yaml", "x"}),
	} {
		if _, err := definitions.Unpack(archive); err == nil || errors.Is(err, unpack.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An archive that does not fit in memory is distinguished from a file that is no archive.
func TestUnpackIsBounded(t *testing.T) {
	archive := pack(t, [2]string{"a.yaml", strings.Repeat("x", 33<<20)},
		[2]string{"b.yml", strings.Repeat("y", 33<<20)})
	if _, err := definitions.Unpack(archive); !errors.Is(err, unpack.ErrTooLarge) {
		t.Errorf("66 MiB of manifests: %v", err)
	}
	archive = pack(t, [2]string{"a.bin", strings.Repeat("x", 66<<20)}, [2]string{"b.yml", "y: z"})
	if _, err := definitions.Unpack(archive); err != nil {
		t.Errorf("66 MiB of others: %v", err)
	}
}
