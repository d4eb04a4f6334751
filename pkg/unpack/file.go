package unpack

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File reads a regular file of at most that many bytes, from any author. It refuses a device or a pipe, which might
// never end.
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
	return Named(path, most)
}

// Named reads a file that the user names, which may be a pipe. A file of more than most bytes is an error.
func Named(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := Bytes(file, most)
	if errors.Is(err, ErrTooLarge) { // other errors name the file
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return content, err
}

// Bytes reads to the end. More than most bytes are ErrTooLarge.
func Bytes(from io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, fmt.Errorf("%w: it has more than %d MiB", ErrTooLarge, most>>20)
	}
	return content, err
}
