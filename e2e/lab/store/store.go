// Package store keeps what the lab has built under the user's cache directory, by the hash of what defines it.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// Key returns the hash of what defines a built thing. Parts keep their borders: ("ab", "c") is not ("a", "bc").
func Key(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// FileKey is Key over the contents of files.
func FileKey(files ...string) (string, error) {
	parts := make([]string, 0, len(files))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read what defines a part of the bundle: %w", err)
		}
		parts = append(parts, string(content))
	}
	return Key(parts...), nil
}

// Store is a folder of built things: <dir>/<kind>/<name>-<key>/.
type Store struct{ dir string }

// Open returns the store under the user's cache directory.
func Open() (*Store, error) {
	dir, err := host.MakeCacheDir("lab", "cache")
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir}, nil
}

// At returns a store in dir.
func At(dir string) *Store { return &Store{dir: dir} }

func (s *Store) path(kind, name, key string) string { return filepath.Join(s.dir, kind, name+"-"+key) }

// Has reports whether a built thing is there.
func (s *Store) Has(kind, name, key string) (bool, error) {
	_, err := os.Stat(s.path(kind, name, key))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("look into the lab's cache: %w", err)
	}
	return err == nil, nil
}

// Get returns the folder of a built thing. When it is not there yet, build fills a temporary folder, which gets its
// name only when build succeeds: an interrupted build leaves nothing that looks whole.
func (s *Store) Get(kind, name, key string, build func(dir string) error) (string, error) {
	final := s.path(kind, name, key)
	parent := filepath.Dir(final)
	there, err := s.Has(kind, name, key)
	if err != nil {
		return "", err
	}
	if there {
		now := time.Now()
		return final, os.Chtimes(final, now, now) // Sweep goes by this
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("create the lab's cache: %w", err)
	}
	temporary, err := os.MkdirTemp(parent, ".building-"+name+"-")
	if err != nil {
		return "", fmt.Errorf("create the lab's cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := build(temporary); err != nil {
		return "", err
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return "", fmt.Errorf("write the lab's cache: %w", err)
	}
	if err := os.Rename(temporary, final); err != nil {
		return "", fmt.Errorf("write the lab's cache: %w", err)
	}
	return final, nil
}

// keep is how long a built thing stays that no build has asked for: of pins that have changed, or of a branch.
const keep = 30 * 24 * time.Hour

// unfinished is how long the folder of an unfinished build stays. The lab builds OpenStack and the bundle at the same
// time, in two processes: neither may remove what the other is building.
const unfinished = 3 * time.Hour

// Sweep removes what builds left behind that were interrupted more than 3 hours ago, and what was not used for 30 days.
// Only the process that holds the lab's build lock may call it.
func (s *Store) Sweep() error {
	folders, err := filepath.Glob(filepath.Join(s.dir, "*", "*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			return fmt.Errorf("clean the lab's cache: %w", err)
		}
		stays := keep
		if strings.HasPrefix(filepath.Base(folder), ".") {
			stays = unfinished
		}
		if time.Since(info.ModTime()) < stays {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("clean the lab's cache: %w", err)
		}
	}
	return nil
}
