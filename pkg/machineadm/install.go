package machineadm

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cluster-init/cluster-init/pkg/unpack"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// installedFolder has an empty file for each archive that was unpacked, by its digest.
const installedFolder = "/etc/machineadm/installed"

// installTimeout is for one file, with all attempts to fetch it.
const installTimeout = fetchTimeout + time.Minute

// installs reports whether machineadm installs Kubernetes: else the image has it.
func (c Config) installs() bool { return c.Kubernetes != nil && len(c.Kubernetes.Files) > 0 }

// installSteps install the files of Kubernetes. A file that is there already stays.
func (h Host) installSteps(c Config) []step {
	if !c.installs() {
		return nil
	}
	var list []step
	for _, file := range c.Kubernetes.Files {
		list = append(list, step{name: "install " + file.Path, timeout: installTimeout,
			run: func(ctx context.Context) error {
				source, known := file.Sources[runtime.GOARCH]
				if !known {
					return fmt.Errorf("there is none for %s", runtime.GOARCH)
				}
				installed, err := h.isInstalled(file, source)
				if err != nil || installed {
					return err
				}
				return h.install(ctx, c.Proxy, file, source.from(c.Kubernetes.Mirror))
			}})
	}
	return list
}

// install fetches a file and puts it, or what is in it, into its place.
func (h Host) install(ctx context.Context, proxy *Proxy, file KubernetesFile, source Source) error {
	target := h.at(file.Path)
	folder := filepath.Dir(target)
	if file.Archive {
		folder = target
	}
	if err := errors.Join(os.MkdirAll(folder, 0o755), removeUnfinished(folder)); err != nil {
		return err
	}
	fetched, err := h.Fetcher.Fetch(ctx, proxy, source, folder)
	if err != nil {
		return err
	}
	if file.Archive {
		err = extract(fetched, folder)
	} else if err = os.Chmod(fetched, 0o755); err == nil {
		return errors.Join(os.Rename(fetched, target), removeUnfinished(folder))
	}
	if err = errors.Join(err, os.Remove(fetched)); err != nil {
		return err
	}
	return h.write(marker(file, source), "", 0o644)
}

// unfinished is the beginning of the names of files that are not whole.
const unfinished = ".machineadm-"

// removeUnfinished removes what a machineadm that was killed, or that failed, has left in a folder.
func removeUnfinished(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, unfinished+"*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// marker returns the place of the file that shows that an archive was unpacked.
func marker(file KubernetesFile, source Source) string {
	sum := sha256.Sum256([]byte(file.Path + " " + source.SHA256))
	return path.Join(installedFolder, hex.EncodeToString(sum[:]))
}

// isInstalled reports whether the machine has the file with its digest, or an archive was unpacked.
func (h Host) isInstalled(file KubernetesFile, source Source) (bool, error) {
	if file.Archive {
		return h.exists(marker(file, source))
	}
	content, err := os.Open(h.at(file.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, content)
	if err = errors.Join(err, content.Close()); err != nil {
		return false, err
	}
	return hex.EncodeToString(hash.Sum(nil)) == source.SHA256, nil
}

// maxEntries is far above what an archive of Kubernetes has.
const maxEntries = 1000

// extract writes the files of an archive (tar.gz) into a folder. It refuses links and paths outside of the folder: no
// release of Kubernetes has any that a machine needs.
func extract(archive, folder string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	content, err := unpack.New(file, unpack.Limits{Entries: maxEntries, Total: maxFile},
		func(packed io.Reader) (io.Reader, func(), error) {
			plain, err := gzip.NewReader(packed)
			return plain, nil, err
		})
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer content.Close()
	return content.Tar(func(header *tar.Header, entry io.Reader) error {
		name := filepath.Clean(header.Name)
		if header.Typeflag == tar.TypeDir {
			return nil
		}
		if !filepath.IsLocal(name) || header.Typeflag != tar.TypeReg {
			return fmt.Errorf("the archive has %q: want files below its folder only", header.Name)
		}
		program, err := io.ReadAll(entry)
		if err != nil {
			return fmt.Errorf("read %s in the archive: %w", name, err)
		}
		target := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return wholefile.Write(target, program, header.FileInfo().Mode().Perm())
	})
}
