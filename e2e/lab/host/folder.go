// Package host is what the lab needs of the machine it runs on: its own folder, a lock, commands and Debian packages.
package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CacheDir returns the folder under the user's cache directory that belongs to cluster-init, with the elements
// joined to it. It does not create anything.
func CacheDir(elem ...string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(append([]string{base, "cluster-init"}, elem...)...), nil
}

// MakeCacheDir is CacheDir, with the folder created.
func MakeCacheDir(elem ...string) (string, error) {
	dir, err := CacheDir(elem...)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create the lab's folder: %w", err)
	}
	return dir, nil
}

// Lock waits for the exclusive lock called name, so that two lab commands never build the same thing at once. The
// kernel gives the lock back when the process ends, even after kill -9.
func Lock(name string) (unlock func(), err error) {
	dir, err := MakeCacheDir("lab")
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lab's lock: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("take the lab's lock %s: %w", name, err)
	}
	return func() { _ = file.Close() }, nil
}
