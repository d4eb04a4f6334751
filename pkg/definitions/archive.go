package definitions

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// The bounds of Unpack. A repository may contain much more than manifests, which is read and not kept.
const (
	maxEntries  = 200_000
	maxUnpacked = 1 << 30  // bytes of all files
	maxKept     = 64 << 20 // bytes of the files that Check may read
)

// Unpack returns the files of a gzipped tar archive that Check may read, in memory. The error is unpack.ErrTooLarge if
// the archive exceeds the bounds above.
func Unpack(archive []byte) (fs.FS, error) {
	limits := unpack.Limits{Entries: maxEntries, Total: maxUnpacked}
	reader, err := unpack.New(bytes.NewReader(archive), limits, func(r io.Reader) (io.Reader, func(), error) {
		plain, err := gzip.NewReader(r)
		return plain, nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the archive as gzip: %w", err)
	}
	defer reader.Close()
	files, kept := map[string][]byte{}, int64(0)
	err = reader.Tar(func(header *tar.Header, content io.Reader) error {
		name := path.Clean(header.Name)
		if !fs.ValidPath(name) {
			return fmt.Errorf("the entry %q is outside of the archive", header.Name)
		}
		if header.Typeflag != tar.TypeReg || !isRead(name) {
			return nil
		}
		if kept += header.Size; kept > maxKept {
			return fmt.Errorf("%w: it holds more than %d bytes of manifests", unpack.ErrTooLarge, maxKept)
		}
		text, err := io.ReadAll(content)
		files[name] = text
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	return inMemory(files)
}

// inMemory returns files as a file system. It packs them as zip: apart from testing/fstest, the standard library has no
// other fs.FS in memory.
func inMemory(files map[string][]byte) (fs.FS, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, text := range files {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(text); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
}
