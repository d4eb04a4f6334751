package backup

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Content is the input of a backup. Its Manifest needs no format and no files.
type Content struct {
	Manifest
	Sections map[Section][]*unstructured.Unstructured
	// Snapshot is the one that Manifest.Etcd describes, with its digest at its end.
	Snapshot []byte
}

// Staged is a backup that is written and checked, and still has a hidden name.
type Staged struct {
	Manifest Manifest
	// Path is where Publish moves it.
	Path   string
	hidden string
}

// Stage writes a backup below dir, mode 0700 and its files 0600, reads it back and compares. With recipients it is one
// file, and no unencrypted part is ever written. The encrypted file is compared with what was written, as only its
// recipients can open it. A signer with a key signs its manifest.
//
// Its name has the time of the content, or a later one if dir has a backup of this cluster that is not older: the names
// show which backup is the newest.
func Stage(dir string, c Content, to Recipients, by Signer) (*Staged, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	at, err := after(dir, c.Cluster, c.Created)
	if err != nil {
		return nil, err
	}
	files, m, err := c.files()
	if err != nil {
		return nil, err
	}
	if by.Signs() {
		signature, err := by.sign(files[len(files)-1].text) // the manifest is the last
		if err != nil {
			return nil, err
		}
		files = append(files, entry{SignatureFile, signature})
	}
	s := &Staged{Manifest: m, Path: filepath.Join(dir, owned.Backup(c.Cluster, at))}
	write := s.writeFolder
	if to.Encrypt() {
		s.Path, write = s.Path+owned.EncryptedSuffix,
			func(dir string, files []entry) error { return s.writeEncrypted(dir, files, to) }
	}
	if err := write(dir, files); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

// Publish gives the backup its name.
func (s *Staged) Publish() error {
	if err := os.Rename(s.hidden, s.Path); err != nil {
		return err
	}
	s.hidden = ""
	return syncFolder(filepath.Dir(s.Path))
}

// Discard removes an unpublished backup.
func (s *Staged) Discard() error {
	if s.hidden == "" {
		return nil
	}
	return os.RemoveAll(s.hidden)
}

// files returns the files to write, backup.json last.
func (c Content) files() ([]entry, Manifest, error) {
	m := c.Manifest
	m.Format, m.Created, m.Files = m.format(), m.Created.UTC().Truncate(time.Second), map[string]string{}
	var all []entry
	for _, section := range sections() {
		of, err := entries(section, c.Sections[section])
		if err != nil {
			return nil, m, err
		}
		for _, e := range of {
			if _, twice := m.Files[e.name]; twice {
				return nil, m, fmt.Errorf("two objects have the file name %s", e.name)
			}
			m.Files[e.name] = digestOf(e.text)
		}
		all = append(all, of...)
	}
	snapshot, there, err := c.snapshotEntry()
	if err != nil {
		return nil, m, err
	}
	if there {
		m.Files[snapshot.name] = digestOf(snapshot.text)
		all = append(all, snapshot)
	}
	if err := m.check(); err != nil {
		return nil, m, err
	}
	text, err := m.encode()
	return append(all, entry{ManifestFile, text}), m, err
}

// after returns the time, or if dir has a backup of the cluster that is not older, one second after that.
func after(dir, cluster string, at time.Time) (time.Time, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return at, err
	}
	for _, e := range all {
		if made, is := owned.BackupTime(cluster, e.Name()); is && !at.UTC().Truncate(time.Second).After(made) {
			at = made.Add(time.Second)
		}
	}
	return at, nil
}

func (s *Staged) writeFolder(dir string, files []entry) (err error) {
	if s.hidden, err = os.MkdirTemp(dir, ".incomplete-"); err != nil { // MkdirTemp makes it 0700
		return err
	}
	folders := map[string]bool{s.hidden: true}
	for _, e := range files {
		path := filepath.Join(s.hidden, filepath.FromSlash(e.name))
		if folder := filepath.Dir(path); !folders[folder] {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
			folders[folder] = true
		}
		if err := writeFile(path, e.text); err != nil {
			return err
		}
	}
	for folder := range folders {
		if err := syncFolder(folder); err != nil {
			return err
		}
	}
	back, err := openFolder(s.hidden)
	if err != nil {
		return fmt.Errorf("read the backup back: %w", err)
	}
	if !maps.Equal(back.Manifest.Files, s.Manifest.Files) {
		return errors.New("read the backup back: it lists other files than were written")
	}
	return nil
}

func writeFile(path string, text []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// syncFolder makes the names in a folder survive a crash of the machine.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
