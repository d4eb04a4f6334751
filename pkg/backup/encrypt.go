package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// writeEncrypted writes a tar of the files for the recipients, and reads it back: the disk must contain what was
// written.
func (s *Staged) writeEncrypted(dir string, files []entry, to Recipients) (err error) {
	f, err := os.CreateTemp(dir, ".incomplete-*"+owned.EncryptedSuffix) // CreateTemp makes it 0600
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	s.hidden = f.Name()
	sent := sha256.New()
	top := strings.TrimSuffix(filepath.Base(s.Path), owned.EncryptedSuffix)
	if err := s.encrypt(io.MultiWriter(f, sent), top, files, to); err != nil {
		return fmt.Errorf("encrypt the backup: %w", err)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	back := sha256.New()
	if _, err := io.Copy(back, f); err != nil {
		return fmt.Errorf("read the backup back: %w", err)
	}
	if !bytes.Equal(back.Sum(nil), sent.Sum(nil)) {
		return errors.New("read the backup back: it differs from what was written")
	}
	return nil
}

// encrypt writes the files as a tar whose files are all in the folder top.
func (s *Staged) encrypt(out io.Writer, top string, files []entry, to Recipients) error {
	sealed, err := age.Encrypt(out, to.keys...)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(sealed)
	folders := map[string]bool{}
	for _, e := range files {
		name := path.Join(top, e.name)
		for _, folder := range []string{top, path.Dir(name)} {
			if folders[folder] {
				continue
			}
			folders[folder] = true
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o700,
				ModTime: s.Manifest.Created}); err != nil {
				return err
			}
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600,
			Size: int64(len(e.text)), ModTime: s.Manifest.Created}); err != nil {
			return err
		}
		if _, err := archive.Write(e.text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), sealed.Close())
}

func digestOf(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
