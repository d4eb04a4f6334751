package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// save writes the management cluster's kubeconfig to where the user wants it, and into the state folder, where cleanup
// looks for whom to ask. A file whose user wrote a program or another file into it is left as it is.
func (w *World) save(kubeconfig []byte) error {
	for _, path := range w.kubeconfigPaths() {
		if content, err := os.ReadFile(path); err == nil &&
			(bytes.Equal(content, kubeconfig) || w.isUsersOwn(path, content)) {
			continue
		}
		if err := writeFile(path, kubeconfig); err != nil {
			return err
		}
	}
	return nil
}

// isUsersOwn says whether a file is a kubeconfig that up did not write.
func (w *World) isUsersOwn(path string, content []byte) bool {
	if path == w.savedPath() || len(bytes.TrimSpace(content)) == 0 {
		return false
	}
	_, err := kube.Embedded(content)
	return err != nil
}

// SetAside renames what an earlier cluster of this name has left, which is gone: the next one has another authority,
// and the file would be taken for a kubeconfig of somebody else's.
func (w *World) SetAside() error {
	for _, path := range w.kubeconfigPaths() {
		if err := os.Rename(path, path+"."+w.Now().UTC().Format("20060102T150405Z")); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the kubeconfig of an earlier cluster aside: %w", err)
		}
	}
	return nil
}

// kubeconfigPaths are where the management cluster's kubeconfig is kept: where the user wants it, and in the state
// folder.
func (w *World) kubeconfigPaths() []string {
	kept := w.savedPath()
	if w.KubeconfigPath == kept {
		return []string{kept}
	}
	return []string{w.KubeconfigPath, kept}
}

// savedPath is where up keeps the management cluster's kubeconfig.
func (w *World) savedPath() string { return filepath.Join(w.StateFolder, "kubeconfig") }

// BootstrapKubeconfigFile is the name of the file in the state folder with the kubeconfig of the kind cluster.
const BootstrapKubeconfigFile = "bootstrap.kubeconfig"

// BootstrapKubeconfigPath is where the kubeconfig of the kind cluster is kept, for the commands in hints.
func (w *World) BootstrapKubeconfigPath() string {
	return filepath.Join(w.StateFolder, BootstrapKubeconfigFile)
}

// KeepBootstrapKubeconfig writes it: without it, such a command would go to the cluster of the user's shell. It is for
// runs only: who only looks writes nothing.
func (w *World) KeepBootstrapKubeconfig(c *kube.Cluster) error {
	if c == nil || w.BootstrapKubeconfig != "" {
		return nil
	}
	return writeFile(w.BootstrapKubeconfigPath(), c.Kubeconfig)
}

// builtPath is a file that proves that a run with this state folder made the bootstrap cluster, and that none has
// deleted it after a pivot.
func (w *World) builtPath() string { return filepath.Join(w.StateFolder, builtName) }

const builtName = "bootstrap.built"

// ForgetBootstrap removes what the state folder holds of a bootstrap cluster that was deleted. The proof goes first:
// what is left without it proves nothing.
func (w *World) ForgetBootstrap() error {
	for _, path := range []string{w.builtPath(), w.BootstrapKubeconfigPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what is kept of the bootstrap cluster: %w", err)
		}
	}
	return nil
}

// writeFile writes a file for its owner only, in one step, so that a reader never sees half of it.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temporary.Name()) // nothing is left of it after the rename
	if _, err := temporary.Write(content); err != nil {
		temporary.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := temporary.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
