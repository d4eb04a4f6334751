package unpack

import (
	"fmt"
	"io"
	"os"
)

// File reads a regular file of at most so many bytes, whoever wrote it. A device or a pipe might never end.
func File(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read %s: is a directory", path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, fmt.Errorf("read %s: it has more than %d MiB", path, most>>20)
	}
	return content, err
}
