package kustomize

import (
	"fmt"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/unpack"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// mostOfFile is the maximum size of a file.
const mostOfFile = 16 << 20

// Disk returns the file system of this machine. Its ReadFile reads only regular files, so that no foreign folder can
// make a run wait for a pipe or read a device.
func Disk() filesys.FileSystem { return disk{filesys.MakeFsOnDisk()} }

type disk struct{ filesys.FileSystem }

// ReadFile reads a regular file of at most 16 MiB.
func (disk) ReadFile(path string) ([]byte, error) { return readRegular(path) }

// ReadBelow reads a regular file of at most 16 MiB that is below root after symbolic links. It is for files of foreign
// folders that kustomize does not read. If the file or root is missing, the error is fs.ErrNotExist.
func ReadBelow(root, path string) ([]byte, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	if !within(filesys.ConfirmedDir(root), resolved) {
		return nil, fmt.Errorf("it is a link that leads out of %s", root)
	}
	return readRegular(resolved)
}

func readRegular(path string) ([]byte, error) { return unpack.File(path, mostOfFile) }
