package main

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entry is a file of a layer, or a folder when file is empty.
type entry struct {
	path string // in the image
	mode int64
	file string // on this machine
}

// newLayer is a compressed layer of these files and the folders above them. Everything belongs to root, and is as old
// as the commit.
func newLayer(created time.Time, entries ...entry) (v1.Layer, error) {
	open := func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeEntries(w, created, entries)) }()
		return r, nil
	}
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func writeEntries(w io.Writer, created time.Time, entries []entry) error {
	t := tar.NewWriter(w)
	written := map[string]bool{".": true}
	for _, e := range entries {
		name := strings.TrimPrefix(e.path, "/")
		if err := writeParents(t, created, path.Dir(name), written); err != nil {
			return err
		}
		if e.file == "" {
			written[name] = true
			if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: e.mode,
				ModTime: created}); err != nil {
				return err
			}
			continue
		}
		if err := writeTarFile(t, e.file, tar.Header{Name: name, Mode: e.mode, ModTime: created}); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeParents(t *tar.Writer, created time.Time, dir string, written map[string]bool) error {
	if written[dir] {
		return nil
	}
	if err := writeParents(t, created, path.Dir(dir), written); err != nil {
		return err
	}
	written[dir] = true
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: created})
}

func writeTarFile(t *tar.Writer, file string, header tar.Header) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(&header); err != nil {
		return err
	}
	if _, err := io.Copy(t, f); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// writeTar packs the files below a folder in lexical order, without owners and times.
func writeTar(folder, output string) error {
	return writeFile(output, func(w io.Writer) error {
		t := tar.NewWriter(w)
		err := filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(folder, file)
			if err != nil {
				return err
			}
			return writeTarFile(t, file, tar.Header{Name: filepath.ToSlash(name), Mode: 0o644})
		})
		if err != nil {
			return fmt.Errorf("pack %s: %w", output, err)
		}
		return t.Close()
	})
}
