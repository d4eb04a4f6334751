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

// What Unpack takes of an archive of others: more than a large cluster has.
const (
	largest     = 64 << 20 // bytes of the file that it returns
	mostEntries = 20_000
	mostBytes   = 2 << 30
	mostRatio   = 200
)

// Unpack returns the file of this name from what Pack wrote.
func Unpack(from io.Reader, name string) ([]byte, error) {
	archive, err := unpack.New(from, unpack.Limits{Entries: mostEntries, Total: mostBytes, Ratio: mostRatio}, unzstd)
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
		if content, err = io.ReadAll(io.LimitReader(file, largest+1)); err == nil && len(content) > largest {
			err = fmt.Errorf("%s is larger than %d bytes", name, largest)
		}
		if err != nil {
			return err
		}
		return unpack.Stop
	})
	switch {
	case err != nil:
	case empty: // nothing was ever packed without any file
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
	plain, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest))
	if err != nil {
		return nil, nil, err
	}
	return plain, plain.Close, nil
}
