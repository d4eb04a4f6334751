package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// clientAuthorities is the file with all authorities whose client certificates the API server accepts: RKE2's
// client-ca, which CAPRKE2 signs the kubeconfig with, and the cluster's own, which kubeadm signs with.
const clientAuthorities = "client-ca-bundle.crt"

// kubeadmKeys are what kubeadm makes on the first server and every further one must have too.
var kubeadmKeys = []string{"sa.key", "sa.pub", "front-proxy-ca.crt", "front-proxy-ca.key"}

// placeAuthorities gives kubeadm the certificate authorities under the names that it knows. It then makes no others.
func placeAuthorities(p paths) error {
	for from, to := range map[string]string{serverCA: "ca", etcdCA: "etcd/ca"} {
		for _, suffix := range []string{".crt", ".key"} {
			content, err := os.ReadFile(filepath.Join(p.tls(), from+suffix))
			if err != nil {
				return fmt.Errorf("read a certificate authority: %w", err)
			}
			if err := writeFileMode(filepath.Join(p.pki(), to+suffix), content, modeOf(suffix)); err != nil {
				return err
			}
		}
	}
	var bundle []byte
	for _, name := range []string{clientCA, serverCA} {
		content, err := os.ReadFile(filepath.Join(p.tls(), name+".crt"))
		if err != nil {
			return fmt.Errorf("read a certificate authority: %w", err)
		}
		bundle = append(append(bundle, bytes.TrimSpace(content)...), '\n')
	}
	return writeFileMode(filepath.Join(p.pki(), clientAuthorities), bundle, 0o644)
}

// material are the files that a joining server needs, by names that both sides know.
type material map[string][]byte

// materialFiles returns the place of each file.
func materialFiles(p paths) map[string]string {
	files := map[string]string{}
	for _, name := range authorityNames() {
		for _, suffix := range []string{".crt", ".key"} {
			files["tls/"+name+suffix] = filepath.Join(p.tls(), name+suffix)
		}
	}
	for _, name := range kubeadmKeys {
		files["pki/"+name] = filepath.Join(p.pki(), name)
	}
	return files
}

// readMaterial reads the files on a server.
func readMaterial(p paths) (material, error) {
	found := material{}
	for name, file := range materialFiles(p) {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read what a joining server needs: %w", err)
		}
		found[name] = content
	}
	return found, nil
}

// write writes the files on a joining server. Only names that are known have a place.
func (m material) write(p paths) error {
	var missing []string
	for name, file := range materialFiles(p) {
		if len(m[name]) == 0 {
			missing = append(missing, name)
			continue
		}
		if err := writeFileMode(file, m[name], modeOf(filepath.Ext(name))); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return errors.New("the server handed out no " + strings.Join(missing, ", "))
	}
	return nil
}

// modeOf keeps keys from all but root.
func modeOf(suffix string) os.FileMode {
	if suffix == ".key" {
		return 0o600
	}
	return 0o644
}
