package image

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// WriteRootLayer turns the archive of a root file system into a layer. It leaves out devices, which the container
// runtime makes itself, and every path that drop names.
func WriteRootLayer(dir, archive string, drop func(path string) bool) (v1.Layer, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("read a root file system: %w", err)
	}
	defer func() { _ = file.Close() }()
	return writeLayer(dir, func(out *tar.Writer) error { return copyArchive(out, tar.NewReader(file), drop) })
}

// copyArchive copies the entries that are kept. Owners and modes stay, times go.
func copyArchive(out *tar.Writer, in *tar.Reader, drop func(path string) bool) error {
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a root file system: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		device := header.Typeflag == tar.TypeChar || header.Typeflag == tar.TypeBlock
		if name == "" || device || strings.HasPrefix(name, "dev/") || drop(name) {
			continue
		}
		header.ModTime, header.AccessTime, header.ChangeTime = time.Unix(0, 0), time.Time{}, time.Time{}
		header.Uname, header.Gname = "", ""
		if err := out.WriteHeader(header); err != nil {
			return fmt.Errorf("write a root file system: %w", err)
		}
		if _, err := io.Copy(out, in); err != nil {
			return fmt.Errorf("write a root file system: %w", err)
		}
	}
}

// unzipped closes the file below a gzip reader too.
type unzipped struct {
	*gzip.Reader
	file *os.File
}

// Close closes the reader and the file.
func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.file.Close()) }

// unzip opens a compressed file for reading its content.
func unzip(name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(file)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return unzipped{Reader: reader, file: file}, nil
}
