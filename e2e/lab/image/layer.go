// Package image makes OCI images whose digests depend on nothing but their content: sorted entries, no times, no
// owners but root.
package image

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Entry is one path of a layer: a folder, a symbolic link, or a file with its content or the file to copy.
type Entry struct {
	Path    string // in the image, without leading slash; folders end in "/"
	Mode    int64  // permission bits; 0 means 0755 for folders, 0644 for files
	Content []byte
	Source  string // host file to copy instead of Content
	Link    string // target of a symbolic link
}

// layer is a v1.Layer in a file.
type layer struct {
	file           string
	digest, diffID v1.Hash
	size           int64
}

// WriteLayer writes the entries, sorted, as a compressed layer into a new file below dir.
func WriteLayer(dir string, entries []Entry) (v1.Layer, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return writeLayer(dir, func(out *tar.Writer) error {
		for _, entry := range sorted {
			if err := writeEntry(out, entry); err != nil {
				return fmt.Errorf("add %s to an image: %w", entry.Path, err)
			}
		}
		return nil
	})
}

// writeLayer compresses what fill writes and computes both digests meanwhile.
func writeLayer(dir string, fill func(*tar.Writer) error) (v1.Layer, error) {
	file, err := os.CreateTemp(dir, "layer-*.tar.gz")
	if err != nil {
		return nil, fmt.Errorf("create a layer: %w", err)
	}
	defer func() { _ = file.Close() }()
	compressed, plain := sha256.New(), sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(file, compressed), gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	out := tar.NewWriter(io.MultiWriter(zip, plain))
	if err := fill(out); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("write a layer: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("write a layer: %w", err)
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("write a layer: %w", err)
	}
	return &layer{file: file.Name(), digest: sum(compressed.Sum(nil)), diffID: sum(plain.Sum(nil)), size: size}, nil
}

// writeEntry adds one entry with root as owner and no time.
func writeEntry(out *tar.Writer, entry Entry) error {
	header := &tar.Header{
		Name: path.Clean(entry.Path), Mode: entry.Mode, ModTime: time.Unix(0, 0),
		Typeflag: tar.TypeReg, Format: tar.FormatPAX,
	}
	if strings.HasSuffix(entry.Path, "/") {
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	}
	if entry.Link != "" {
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, entry.Link, 0o777
	}
	if header.Mode == 0 {
		header.Mode = map[bool]int64{true: 0o755, false: 0o644}[header.Typeflag == tar.TypeDir]
	}
	if entry.Source != "" {
		return copyFile(out, header, entry.Source)
	}
	header.Size = int64(len(entry.Content))
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := out.Write(entry.Content)
	return err
}

// copyFile adds the content of a file on the host.
func copyFile(out *tar.Writer, header *tar.Header, source string) error {
	file, err := os.Open(filepath.Clean(source))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header.Size = info.Size()
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}

// sum makes a hash of go-containerregistry from the bytes of a sha256.
func sum(bytes []byte) v1.Hash { return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(bytes)} }

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.diffID, nil }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.OCILayer, nil }
func (l *layer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return unzip(l.file) }
