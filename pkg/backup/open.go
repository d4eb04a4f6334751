package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hiddeco/sshsig"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/etcd"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// maxBackup is the maximum size of all files of a backup together, in bytes: they are held in memory.
const maxBackup = 1 << 30

// mostMarks bounds what the objects of a backup come to in memory, see unpack.Marks. An object has some hundreds.
const mostMarks = 1 << 24

// Backup is a completely read backup that matches its manifest.
type Backup struct {
	Manifest Manifest
	// Snapshot is the snapshot of etcd, with its digest at its end; nil if the backup has none.
	Snapshot []byte
	sections map[Section][]*unstructured.Unstructured

	manifest  []byte // the text of backup.json
	signature *sshsig.Signature
}

// Section returns the objects of a section, sorted by file. Those that move are in clusterctl's form: Clusters and
// ClusterClasses are paused.
func (b *Backup) Section(s Section) []*unstructured.Unstructured { return b.sections[s] }

// Open reads a backup, the folder or the encrypted file. It refuses one that is incomplete or changed, and names the
// file: the error has the code fault.BackupInvalid. An encrypted backup needs ids. The code fault.Usage reports that
// there are none, or that none opens it.
func Open(path string, ids Identities) (*Backup, error) {
	read := func() (*Backup, error) { return openFolder(path) }
	if strings.HasSuffix(path, owned.EncryptedSuffix) {
		read = func() (*Backup, error) { return openEncrypted(path, ids) }
	}
	b, err := read()
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("open the backup %s: %w", path, err), fault.CodeOr(err, fault.BackupInvalid),
			cmp.Or(fault.HintOf(err), "Use another backup, or a copy of this one."))
	}
	return b, nil
}

// openFolder reads a folder, and no file outside of it.
func openFolder(folder string) (*Backup, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := map[string][]byte{}
	left := int64(maxBackup)
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case !isPrintable(name):
			return errUnprintable
		case err != nil:
			return err
		case e.IsDir():
			return folderOf(name)
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
		text, err := readFile(root, name, left)
		files[name], left = text, left-int64(len(text))
		return err
	})
	if err != nil {
		return nil, err
	}
	return assemble(files)
}

// folderOf refuses a folder that no backup has.
func folderOf(name string) error {
	if !isPrintable(name) {
		return errUnprintable
	}
	if name != "." && !slices.Contains(sections(), Section(name)) {
		return fmt.Errorf("the folder %s does not belong to it", name)
	}
	return nil
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, name, limit)
}

// readAll reads a file of a backup. It refuses one that is larger than left, or than maxObject if it is an object.
func readAll(r io.Reader, name string, left int64) ([]byte, error) {
	limit := min(left, maxObject)
	if name == snapshotFile {
		limit = left
	}
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	switch {
	case int64(len(text)) <= limit:
		return text, nil
	case limit == maxObject:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxObject)
	default:
		return nil, fmt.Errorf("%s: the backup is larger than %d bytes", name, maxBackup)
	}
}

// assemble reads the objects in the files, and compares the files with their manifest.
func assemble(files map[string][]byte) (*Backup, error) {
	text, there := files[ManifestFile]
	if !there {
		return nil, fmt.Errorf("%s is missing: it is incomplete, or not a backup", ManifestFile)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	b := &Backup{Manifest: m, manifest: text, sections: map[Section][]*unstructured.Unstructured{}}
	marks := 0
	var wrong []error
	if text, signed := files[SignatureFile]; signed {
		if b.signature, err = parseSignature(text); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		text, there := files[name]
		switch {
		case !there:
			wrong = append(wrong, fmt.Errorf("%s is missing", name))
			continue
		case digestOf(text) != m.Files[name]:
			wrong = append(wrong, fmt.Errorf("%s was changed: its digest differs from that in %s", name,
				ManifestFile))
			continue
		}
		if name == snapshotFile {
			b.Snapshot = text
			wrong = append(wrong, etcd.Verify(text))
			continue
		}
		found, _ := unpack.Marks(text)
		if marks += found; marks > mostMarks {
			return nil, errors.New("its objects together have too many lines and entries")
		}
		u, err := object(entry{name, text})
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		section := Section(path.Dir(name))
		b.sections[section] = append(b.sections[section], u)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if m.Files[name] == "" && name != ManifestFile && name != SignatureFile {
			wrong = append(wrong, fmt.Errorf("%s does not belong to it: %s does not list it", name, ManifestFile))
		}
	}
	return b, errors.Join(wrong...)
}
