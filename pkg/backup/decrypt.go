package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// openEncrypted reads an encrypted file into memory. It writes nothing to disk.
func openEncrypted(file string, ids Identities) (*Backup, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var none *age.NoIdentityMatchError
	if len(ids.keys) == 0 {
		return nil, noKey("it is encrypted, and no secret key was given")
	}
	plain, err := age.Decrypt(f, ids.keys...)
	switch {
	case errors.As(err, &none):
		return nil, noKey("it is encrypted, but not for the given secret keys")
	case err != nil:
		return nil, errors.New("it is truncated, or not a file of age")
	}
	files, err := untar(plain)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, plain); err != nil { // its last part proves that it is complete
		return nil, errors.New("it is truncated, or was changed")
	}
	return assemble(files)
}

func noKey(message string) error {
	return fault.New(fault.Usage, message,
		"Set --identity to the file with the secret key of one of its recipients.")
}

// mostEntries bounds the files and folders of a backup.
const mostEntries = 100_000

// untar returns the files of an archive by their paths below its one folder.
func untar(r io.Reader) (map[string][]byte, error) {
	archive, err := unpack.New(r, unpack.Limits{Entries: mostEntries, Total: maxBackup + mostEntries*tarOverhead}, nil)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	left, top := int64(maxBackup), ""
	var refused error
	err = archive.Tar(func(h *tar.Header, content io.Reader) error {
		refused = func() error {
			folder, name, _ := strings.Cut(strings.TrimSuffix(h.Name, "/"), "/")
			if top == "" {
				top = folder
			}
			switch {
			case folder != top:
				return fmt.Errorf("%q is outside of its folder", h.Name)
			case h.Typeflag == tar.TypeDir && name == "":
				return nil
			case h.Typeflag == tar.TypeDir:
				return folderOf(name)
			case h.Typeflag != tar.TypeReg:
				return fmt.Errorf("%q is not a regular file", h.Name)
			case files[name] != nil:
				return fmt.Errorf("%q is in it twice", h.Name)
			}
			if name != ManifestFile && name != SignatureFile {
				if _, err := sectionOf(name); err != nil {
					return err
				}
			}
			text, err := readAll(content, name, left)
			files[name], left = append([]byte{}, text...), left-int64(len(text))
			return err
		}()
		return refused
	})
	switch {
	case refused != nil:
		return nil, refused
	case errors.Is(err, unpack.ErrTooLarge):
		return nil, err
	case err != nil:
		return nil, errors.New("the archive in it is truncated, or was changed")
	}
	return files, nil
}

// tarOverhead is the maximum number of bytes that an entry takes in addition to its content: its header and padding.
const tarOverhead = 1 << 10
