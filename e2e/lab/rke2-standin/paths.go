package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// paths are the files of a node below root, which is / but in tests.
type paths struct{ root string }

// RKE2's own places.
func (p paths) config() string     { return p.at("etc/rancher/rke2/config.yaml") }
func (p paths) registries() string { return p.at("etc/rancher/rke2/registries.yaml") }
func (p paths) kubeconfig() string { return p.at("etc/rancher/rke2/rke2.yaml") }
func (p paths) tls() string        { return p.at("var/lib/rancher/rke2/server/tls") }
func (p paths) token() string      { return p.at("var/lib/rancher/rke2/server/token") }
func (p paths) manifests() string  { return p.at("var/lib/rancher/rke2/server/manifests") }
func (p paths) memberName() string { return p.at("var/lib/rancher/rke2/server/db/etcd/name") }

// Places of what stands behind.
func (p paths) pki() string       { return p.at("etc/kubernetes/pki") }
func (p paths) adminConf() string { return p.at("etc/kubernetes/admin.conf") }
func (p paths) certsD() string    { return p.at("etc/containerd/certs.d") }
func (p paths) patches() string   { return p.own("patches") }
func (p paths) joined() string    { return p.own("joined") }

// own is a file of the stand-in itself.
func (p paths) own(name string) string {
	return p.at(filepath.Join("var/lib/rancher/rke2/standin", name))
}

func (p paths) at(name string) string { return filepath.Join(p.root, name) }

// writeFile writes a file of mode 0600 and its folder. It replaces the file whole, so that a kill leaves the old or
// the new one.
func writeFile(name string, content []byte) error { return writeFileMode(name, content, 0o600) }

func writeFileMode(name string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("create the folder of %s: %w", name, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // gone already when all went well
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(temporary.Name(), name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// exists reports whether there is a file or folder of the name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
