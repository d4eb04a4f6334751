// Package wholefile writes files that a reader sees whole or not at all.
package wholefile

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces path with content and mode, whatever mode an earlier file had. The content is on the disk before the
// file gets its name; the folder's entry may still be lost with the machine's power. The folder must exist.
func Write(path string, content []byte, mode fs.FileMode) (err error) {
	// renameio.WriteFile would keep the mode of an existing file.
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Cleanup()) }()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
