//go:build integration

package apiserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Manifests are files of upstream releases, by the address where others fetch them.
type Manifests map[string][]byte

// ReadManifests reads those that the lab has rendered from the modules that it pins. They are next to the programs that
// the lab built, in BinariesVariable: Flux's, and, where the managers were built too, those of cert-manager and Cluster
// API.
func ReadManifests() (Manifests, error) {
	dir, err := binaries()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(dir, "manifests.json"))
	if err != nil {
		return nil, fmt.Errorf("read the manifests of releases: %w: `go run ./e2e/lab binaries` prints a folder that "+
			"has them", err)
	}
	var list []struct {
		URL     string
		Content []byte
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("read the manifests of releases: %w", err)
	}
	manifests := Manifests{}
	for _, each := range list {
		manifests[each.URL] = each.Content
	}
	return manifests, nil
}

// Get returns the manifest of that address.
func (m Manifests) Get(url string) ([]byte, error) {
	content, found := m[url]
	if !found {
		return nil, fmt.Errorf("%s is not what the lab pins", url)
	}
	return content, nil
}

// ReadManifest returns the one of that address.
func ReadManifest(url string) ([]byte, error) {
	all, err := ReadManifests()
	if err != nil {
		return nil, err
	}
	return all.Get(url)
}

// servers returns the folder with kube-apiserver and etcd: that of BinariesVariable, or, if it has none, that of
// AssetsVariable.
func servers() (string, error) {
	dir, err := binaries()
	if err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "kube-apiserver")); missing == nil {
			return dir, nil
		}
	}
	if assets := os.Getenv(AssetsVariable); assets != "" {
		return assets, nil
	}
	if err == nil {
		err = fmt.Errorf("%s has no kube-apiserver, and %s is not set: `make envtest` prints a folder for it", dir,
			AssetsVariable)
	}
	return "", err
}

// binaries returns the folder that BinariesVariable names.
func binaries() (string, error) {
	if dir := os.Getenv(BinariesVariable); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("%s names no folder with kube-apiserver and etcd: `go run ./e2e/lab binaries` prints one",
		BinariesVariable)
}

// EtcdProgram returns the path of the etcd that every Server runs.
func EtcdProgram() (string, error) {
	dir, err := servers()
	return filepath.Join(dir, "etcd"), err
}
