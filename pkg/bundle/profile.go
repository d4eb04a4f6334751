package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Profile returns the files of the profile by their paths in the content, with verified checksums. Every error is a
// fault with code bundle/invalid.
func (b *Bundle) Profile() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, entry := range b.Index.Profile {
		if !fs.ValidPath(entry.Path) {
			return nil, fault.New(fault.BundleInvalid, fmt.Sprintf("file %q of the bundle's profile is outside of it",
				entry.Path), rebuild)
		}
		content, err := readFile(b.profileFile(entry), entry.SHA256)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("read the bundle's profile: %w", err), fault.BundleInvalid, rebuild)
		}
		files[entry.Path] = content
	}
	return files, nil
}

// profileFile is the path of a file of the profile on this machine.
func (b *Bundle) profileFile(entry File) string {
	return filepath.Join(b.Dir, profileFolder, filepath.FromSlash(entry.Path))
}

// ProfileIndex lists the files of a profile as the index does, sorted by path.
func ProfileIndex(files map[string][]byte) []File {
	var entries []File
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[path])
		entries = append(entries, File{Path: path, SHA256: hex.EncodeToString(sum[:])})
	}
	return entries
}

// WriteProfile writes the files of a profile into the bundle in dir.
func WriteProfile(dir string, files map[string][]byte) error {
	for path, content := range files {
		file := filepath.Join(dir, profileFolder, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("write the bundle's profile: %w", err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("write the bundle's profile: %w", err)
		}
	}
	return nil
}
