package image

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Difference returns the paths of the entries of a root file system's archive that the base has not, or has
// differently, with the folders that they are in. Times do not count. What only the base has is not told.
func Difference(base, archive string) (map[string]bool, error) {
	before, err := fingerprints(base)
	if err != nil {
		return nil, err
	}
	after, err := fingerprints(archive)
	if err != nil {
		return nil, err
	}
	different := map[string]bool{}
	for name, print := range after {
		if before[name] == print {
			continue
		}
		// A layer that names no folder of a file makes one, and hides the owner and mode of the base's.
		for ; name != "." && !different[name]; name = path.Dir(name) {
			different[name] = true
		}
	}
	return different, nil
}

// fingerprints returns one hash for each path of an archive, over its kind, mode, owner, target and content.
func fingerprints(archive string) (map[string]string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("read a root file system: %w", err)
	}
	defer func() { _ = file.Close() }()
	prints := map[string]string{}
	for in := tar.NewReader(file); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return prints, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a root file system: %w", err)
		}
		hash := sha256.New()
		fmt.Fprintf(hash, "%c %o %d:%d %q\n", header.Typeflag, header.Mode, header.Uid, header.Gid, header.Linkname)
		if _, err := io.Copy(hash, in); err != nil {
			return nil, fmt.Errorf("read a root file system: %w", err)
		}
		prints[strings.TrimPrefix(path.Clean("/"+header.Name), "/")] = string(hash.Sum(nil))
	}
}
