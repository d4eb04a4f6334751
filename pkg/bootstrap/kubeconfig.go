package bootstrap

import (
	"fmt"
	"os"
	"path/filepath"
)

// save writes the management cluster's kubeconfig to where the user wants it, and into the state folder, where cleanup
// looks for whom to ask.
func (u *Up) save(kubeconfig []byte) error {
	if err := saveKubeconfig(u.KubeconfigPath, kubeconfig); err != nil {
		return err
	}
	if kept := filepath.Join(u.StateFolder, "kubeconfig"); kept != u.KubeconfigPath {
		return saveKubeconfig(kept, kubeconfig)
	}
	return nil
}

// saveKubeconfig writes the file for its owner only, in one step, so that a reader never sees half of it.
func saveKubeconfig(path string, kubeconfig []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the kubeconfig: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*") // mode 0600
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	defer os.Remove(temporary.Name()) // nothing is left of it after the rename
	if _, err := temporary.Write(kubeconfig); err != nil {
		temporary.Close()
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if err := temporary.Close(); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}
