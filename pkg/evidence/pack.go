package evidence

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Pack writes the files of a folder as a tar, compressed with zstd. top is their folder inside the tar.
func Pack(dir, top string, to io.Writer) error {
	compressed, err := zstd.NewWriter(to)
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	archive := tar.NewWriter(compressed)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(top, filepath.ToSlash(inside)),
			Mode: 0o600, Size: int64(len(content)), ModTime: info.ModTime()}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err = errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return nil
}

// Unpack's limits for archives, which anyone may have made. A large cluster stays below them.
const (
	maxFileBytes = 64 << 20 // of the file that Unpack returns, and of the window of zstd
	maxEntries   = 20_000
	maxBytes     = 2 << 30
	maxRatio     = 200
)

// Unpack returns the file of this name from what Pack wrote.
func Unpack(from io.Reader, name string) ([]byte, error) {
	archive, err := unpack.New(from, unpack.Limits{Entries: maxEntries, Total: maxBytes, Ratio: maxRatio}, unzstd)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer archive.Close()
	var content []byte
	empty, found := true, false
	err = archive.Tar(func(header *tar.Header, file io.Reader) error {
		empty = false
		if path.Base(header.Name) != name {
			return nil
		}
		found = true
		if content, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1)); err == nil && len(content) > maxFileBytes {
			err = fmt.Errorf("%s is larger than %d bytes", name, maxFileBytes)
		}
		if err != nil {
			return err
		}
		return unpack.Stop
	})
	switch {
	case err != nil:
	case empty: // a folder that was collected has files: the archive is incomplete
		err = fmt.Errorf("it is empty: %w", io.ErrUnexpectedEOF)
	case !found:
		err = fmt.Errorf("there is no file %s in it: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return content, nil
}

func unzstd(from io.Reader) (io.Reader, func(), error) {
	plain, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFileBytes))
	if err != nil {
		return nil, nil, err
	}
	return plain, plain.Close, nil
}
