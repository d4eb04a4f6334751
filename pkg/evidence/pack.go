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
)

// Pack writes the files of a folder as a tar, compressed with zstd. top is the folder that they are in there.
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
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(top, filepath.ToSlash(inside)), Mode: 0o600, Size: int64(len(content)), ModTime: info.ModTime()}); err != nil {
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

// largest is the size, in bytes, of the largest file that Unpack returns.
const largest = 256 << 20

// Unpack returns the file of this name from what Pack wrote.
func Unpack(from io.Reader, name string) ([]byte, error) {
	plain, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer plain.Close()
	archive := tar.NewReader(plain)
	for first := true; ; first = false {
		header, err := archive.Next()
		if first && errors.Is(err, io.EOF) { // nothing was ever packed without any file
			return nil, fmt.Errorf("unpack: it is empty: %w", io.ErrUnexpectedEOF)
		}
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("unpack: there is no file %s in it: %w", name, fs.ErrNotExist)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		if path.Base(header.Name) != name {
			continue
		}
		content, err := io.ReadAll(io.LimitReader(archive, largest+1))
		if err == nil && len(content) > largest {
			err = fmt.Errorf("%s is larger than %d bytes", name, largest)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		return content, nil
	}
}
