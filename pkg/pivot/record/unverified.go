package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Forget removes the records of a cluster, the newest last: while that one exists, the move counts as not verified.
func Forget(dir, cluster string) error {
	backups, err := recordedBackups(dir, cluster)
	for _, backup := range backups {
		err = errors.Join(err, Remove(backup))
	}
	if err != nil {
		return fmt.Errorf("note that the move is verified: %w", err)
	}
	return nil
}

// recordedBackups returns the backups of a cluster that have a record, oldest first. The backups themselves may be
// gone.
func recordedBackups(dir, cluster string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, e := range entries { // names end with the time
		if name, is := strings.CutSuffix(e.Name(), owned.UnverifiedSuffix); is && owned.IsBackup(cluster, name) {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return all, nil
}

// Newest returns the newest backup of a cluster in dir whose move was not verified; "" if there is none. The record
// alone has everything that is compared: the backup may have been moved away since.
func Newest(dir, cluster string) (backup string, err error) {
	all, err := recordedBackups(dir, cluster)
	if err != nil {
		return "", fmt.Errorf("look for a move that was not verified: %w", err)
	}
	if len(all) == 0 {
		return "", nil
	}
	newest := all[len(all)-1]
	if _, err := os.Stat(newest + owned.EncryptedSuffix); err == nil {
		return newest + owned.EncryptedSuffix, nil
	}
	return newest, nil
}

// Remove removes the record of a backup, if there is one.
func Remove(backup string) error {
	if err := os.Remove(Marker(backup)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// WhereIs returns where a backup is, for a hint. If the backup was moved away, that is its former path.
func WhereIs(backup string) string {
	if _, err := os.Stat(backup); err != nil {
		return "the backup that was at " + strings.TrimSuffix(backup, owned.EncryptedSuffix)
	}
	return backup
}
