package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Pruned is what Prune did with the older backups in a folder.
type Pruned struct {
	// Removed are the paths of the backups that it removed, the oldest first.
	Removed []string `json:"removed,omitempty"`
	// NotRemoved have the name of an older backup of the cluster, and are not known to be one. They do not count.
	NotRemoved []NotRemoved `json:"notRemoved,omitempty"`
}

// NotRemoved is a file or a folder that Prune left alone.
type NotRemoved struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// older is a backup that is older than the newest one.
type older struct {
	name    string
	created time.Time
}

// Prune removes the oldest backups of a cluster until that many are left in a folder. newest is the path of the backup
// that was published last, and m its manifest: it counts, and Prune removes only what is older than it. Prune follows
// no symbolic links. It removes a folder only if backup.json names the same cluster, and all else in it is a part of
// the backup. It cannot open an encrypted file, which it removes for its name.
//
// The error has the code fault.BackupNotPruned, and Pruned has what was removed nevertheless.
func Prune(newest string, m Manifest, keep int) (Pruned, error) {
	dir := filepath.Dir(newest)
	failed := func(err error) error {
		return fault.Wrap(fmt.Errorf("remove older backups: %w", err), fault.BackupNotPruned,
			"The new backup "+newest+" is complete. Make sure that you may remove files in "+dir+
				": the next backup with --keep tries again.")
	}
	created, is := owned.BackupTime(m.Cluster, filepath.Base(newest))
	if !is || keep < 1 {
		return Pruned{}, failed(fmt.Errorf("%s is not a backup of Cluster %s, or the number to keep is %d, and not 1 "+
			"or more", newest, m.Cluster, keep))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Pruned{}, failed(err)
	}
	defer root.Close()
	var p Pruned
	all, err := p.olderThan(root, created, m)
	if err != nil {
		return p, failed(err)
	}
	var problems []error
	for _, b := range all[:max(0, len(all)-(keep-1))] {
		switch err := remove(root, b.name, m); {
		case errors.Is(err, fs.ErrNotExist): // another process has removed it
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", filepath.Join(dir, b.name), err))
		default:
			p.Removed = append(p.Removed, filepath.Join(dir, b.name))
		}
	}
	if len(problems) > 0 {
		return p, failed(errors.Join(problems...))
	}
	return p, nil
}

// olderThan returns the backups of the cluster that are older than a time, the oldest first. It notes what has the name
// of one and is not known to be one.
func (p *Pruned) olderThan(root *os.Root, newest time.Time, m Manifest) ([]older, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []older
	for _, e := range entries {
		created, is := owned.BackupTime(m.Cluster, e.Name())
		if !is || !created.Before(newest) {
			continue
		}
		if _, err := parts(root, e.Name(), m); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			p.NotRemoved = append(p.NotRemoved, NotRemoved{filepath.Join(root.Name(), e.Name()), err.Error()})
			continue
		}
		all = append(all, older{e.Name(), created})
	}
	slices.SortStableFunc(all, func(a, b older) int { return a.created.Compare(b.created) }) // they were read by name
	return all, nil
}

// remove removes a backup, backup.json last: the next Prune removes one that was removed by half. It first looks at the
// backup again.
func remove(root *os.Root, name string, m Manifest) error {
	inside, err := parts(root, name, m)
	if err != nil {
		return err
	}
	for _, part := range inside {
		if err := root.Remove(filepath.Join(name, part)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return root.Remove(name)
}

// parts returns what is in a backup, in the order in which it can be removed; nothing for an encrypted one. The error
// says why something is not known to be a backup of the cluster.
func parts(root *os.Root, name string, m Manifest) ([]string, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link")
	case strings.HasSuffix(name, owned.EncryptedSuffix):
		if !info.Mode().IsRegular() {
			return nil, errors.New("it is not a regular file")
		}
		return nil, nil
	case !info.IsDir():
		return nil, errors.New("it is not a folder")
	}
	folder, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if opened, err := folder.Stat("."); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(errors.New("it has just been replaced"), err)
	}
	held, err := manifestIn(folder)
	if err != nil {
		return nil, err
	}
	switch {
	case held.Namespace != m.Namespace || held.Cluster != m.Cluster:
		return nil, fmt.Errorf("it is a backup of Cluster %s/%s", held.Namespace, held.Cluster)
	case held.Identity == "" || m.Identity == "":
		return nil, errors.New("it is not known whether it is a backup of this cluster or of another one of this name")
	case held.Identity != m.Identity:
		return nil, errors.New("it is a backup of another cluster of this name")
	}
	return partsOf(folder, held)
}

// manifestIn reads the manifest of a folder.
func manifestIn(folder *os.Root) (Manifest, error) {
	info, err := folder.Lstat(ManifestFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Manifest{}, fmt.Errorf("it has no %s", ManifestFile)
	case err != nil:
		return Manifest{}, fmt.Errorf("read %s: %w", ManifestFile, err)
	case !info.Mode().IsRegular():
		return Manifest{}, fmt.Errorf("%s is not a regular file", ManifestFile)
	}
	text, err := readFile(folder, ManifestFile, maxManifest)
	if err != nil {
		return Manifest{}, err
	}
	return parseManifest(text)
}

// partsOf returns the files of a folder that are there, then its folders, then its manifest. It refuses a folder with
// anything else in it.
func partsOf(folder *os.Root, m Manifest) ([]string, error) {
	var files, folders []string
	err := fs.WalkDir(folder.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name != "." {
				folders = append(folders, name)
			}
			return folderOf(name)
		}
		if name == ManifestFile {
			return nil
		}
		if !e.Type().IsRegular() || m.Files[name] == "" && name != SignatureFile {
			return fmt.Errorf("it holds %q, which is not a part of it", name)
		}
		files = append(files, name)
		return nil
	})
	return append(append(files, folders...), ManifestFile), err
}
