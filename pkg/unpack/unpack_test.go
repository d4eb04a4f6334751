package unpack_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// zeros reads as so many bytes of nothing.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func archive(t *testing.T, entries int, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for n := range entries {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint(n), Mode: 0o600,
			Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gunzip(r io.Reader) (io.Reader, func(), error) {
	plain, err := gzip.NewReader(r)
	return plain, nil, err
}

func TestLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		entries int
		size    int64
		limits  unpack.Limits
		want    string
	}{
		"within all":       {3, 1 << 20, unpack.Limits{Entries: 3, Total: 4 << 20, Ratio: 10}, ""},
		"too many entries": {4, 1, unpack.Limits{Entries: 3, Total: 4 << 20}, "more than 3 entries"},
		"too many bytes": {5, 1 << 20, unpack.Limits{Entries: 9, Total: 4 << 20},
			"more than 4194304 bytes"},
		"a small file that is a large one": {1, 64 << 20, unpack.Limits{Entries: 9, Total: 1 << 30, Ratio: 100},
			"more than 100 times its size"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := unpack.New(bytes.NewReader(archive(t, tc.entries, tc.size)), tc.limits, gunzip)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			seen := 0
			err = r.Tar(func(*tar.Header, io.Reader) error { seen++; return nil }) // skipping an entry unpacks it, too
			if tc.want == "" && (err != nil || seen != tc.entries) {
				t.Errorf("%d entries, %v", seen, err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestStopEndsWithoutAnError(t *testing.T) {
	r, err := unpack.New(bytes.NewReader(archive(t, 3, 1)), unpack.Limits{Entries: 3, Total: 1 << 20}, gunzip)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	if err := r.Tar(func(*tar.Header, io.Reader) error { seen++; return unpack.Stop }); err != nil || seen != 1 {
		t.Errorf("%d entries, %v", seen, err)
	}
}
