package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// save writes the management cluster's kubeconfig to the user's path and to the state folder, where cleanup finds it.
// A file of the user's own stays as it is.
func (w *World) save(kubeconfig []byte) error {
	for _, path := range w.kubeconfigPaths() {
		if content, err := os.ReadFile(path); err == nil &&
			(bytes.Equal(content, kubeconfig) || w.isUsersOwn(path, content, kubeconfig)) {
			continue
		}
		if err := writeFile(path, kubeconfig); err != nil {
			return err
		}
	}
	return nil
}

// filesWith returns the files that hold the kubeconfig.
func (w *World) filesWith(kubeconfig []byte) []string {
	return slices.DeleteFunc(w.kubeconfigPaths(), func(path string) bool {
		content, err := os.ReadFile(path)
		return err != nil || !bytes.Equal(content, kubeconfig)
	})
}

// isUsersOwn reports whether a file must stay as it is: it has several clusters, refers to programs or other files, or
// is of another cluster than the kubeconfig. `down` and `kubeconfig --recover` accept any file as --kubeconfig.
func (w *World) isUsersOwn(path string, content, kubeconfig []byte) bool {
	if path == w.savedPath() || len(bytes.TrimSpace(content)) == 0 {
		return false
	}
	if _, err := kube.Embedded(content); err != nil {
		return true
	}
	return !kube.HasOneCluster(content) || kube.Compare(content, kubeconfig) == kube.Other
}

// SetAside renames the kubeconfigs of an earlier cluster of this name that is gone. The next cluster has another
// certificate authority, so a later run would take these files for another cluster's.
func (w *World) SetAside() error {
	for _, path := range w.kubeconfigPaths() {
		if err := os.Rename(path, path+"."+w.Now().UTC().Format("20060102T150405Z")); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the kubeconfig of an earlier cluster aside: %w", err)
		}
	}
	return nil
}

// kubeconfigPaths returns the paths of the management cluster's kubeconfig: the user's, and the one in the state
// folder.
func (w *World) kubeconfigPaths() []string { return kubeconfigPaths(w.KubeconfigPath, w.StateFolder) }

// savedPath returns the path of the management cluster's kubeconfig in the state folder.
func (w *World) savedPath() string { return savedPath(w.StateFolder) }

// kubeconfigPaths returns the user's path, unless that is empty, and the one in the state folder.
func kubeconfigPaths(given, stateFolder string) []string {
	saved := savedPath(stateFolder)
	if given == "" || given == saved {
		return []string{saved}
	}
	return []string{given, saved}
}

func savedPath(stateFolder string) string { return filepath.Join(stateFolder, "kubeconfig") }

// readKubeconfig reads a file that may name the management cluster. It returns nil if there is no such file, or it is
// empty: then it names no cluster.
func readKubeconfig(path string) ([]byte, error) {
	content, err := kube.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && fault.CodeOf(err) != fault.Usage { // the latter: a file that it refers to
		return nil, nil
	}
	return content, err
}

// BootstrapKubeconfigFile is the name of the file in the state folder with the kubeconfig of the kind cluster.
const BootstrapKubeconfigFile = "bootstrap.kubeconfig"

// BootstrapKubeconfigPath returns the path of the kind cluster's kubeconfig, for the commands in hints.
func (w *World) BootstrapKubeconfigPath() string {
	return filepath.Join(w.StateFolder, BootstrapKubeconfigFile)
}

// KeepBootstrapKubeconfig writes the kind cluster's kubeconfig: without that file, a command in a hint would use the
// cluster of the user's shell. Only runs call it; an observer writes nothing.
func (w *World) KeepBootstrapKubeconfig(c *kube.Cluster) error {
	if c == nil || w.BootstrapKubeconfig != "" {
		return nil
	}
	return writeFile(w.BootstrapKubeconfigPath(), c.Kubeconfig)
}

// builtPath returns the path of a marker file. The file proves that a run with this state folder created the bootstrap
// cluster, and that none has deleted it after a pivot.
func (w *World) builtPath() string { return filepath.Join(w.StateFolder, builtName) }

const builtName = "bootstrap.built"

// ForgetBootstrap removes the files of a deleted bootstrap cluster from the state folder. It removes the marker first,
// because without the marker the other file proves nothing.
func (w *World) ForgetBootstrap() error {
	for _, path := range []string{w.builtPath(), w.BootstrapKubeconfigPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what is kept of the bootstrap cluster: %w", err)
		}
	}
	return nil
}

// writeFile writes a file for its owner only, and atomically, so that a reader never sees half of it.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := wholefile.Write(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
