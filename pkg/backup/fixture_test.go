package backup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
)

const password = "hunter2"

func u(apiVersion, kind, name string, more map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"namespace": "ns", "name": name}}}
	for key, value := range more {
		o.Object[key] = value
	}
	return o
}

func content() backup.Content {
	return backup.Content{
		Manifest: backup.Manifest{Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), CreatedBy: "v1",
			Namespace: "ns", Cluster: "demo",
			Identity:  backup.IdentityOf([]byte("a certificate")),
			Providers: []backup.Provider{{Name: "cluster-api", Version: "v1.14.0"}}, Kubernetes: "v1.36.4",
			Workloads: []backup.WorkloadCluster{{Namespace: "team-a", Cluster: "shop", ManagedBy: "ns/demo",
				Release: true}}},
		Sections: map[backup.Section][]*unstructured.Unstructured{
			backup.Objects: {
				u("cluster.x-k8s.io/v1beta2", "Cluster", "demo",
					map[string]any{"spec": map[string]any{"big": int64(1) << 60}}),
				u("v1", "Secret", "demo-ca", map[string]any{"data": map[string]any{"password": password}}),
			},
			backup.References:  {u("v1", "Secret", "cloud", nil)},
			backup.Environment: {u("helm.toolkit.fluxcd.io/v2", "HelmRelease", "telco-cloud-init", nil)},
			backup.Workload:    {u("helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop", nil)},
		},
	}
}

// write writes a backup and returns where it is.
func write(t *testing.T, dir string, c backup.Content, to backup.Recipients) string {
	t.Helper()
	s, err := backup.Stage(dir, c, to, backup.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path); err == nil {
		t.Fatalf("%s is there before it is published", s.Path)
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	return s.Path
}

// keyPair returns a recipient and the file of its secret key.
func keyPair(t *testing.T) (public, file string) {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte("# made for a test\n"+key.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return key.Recipient().String(), file
}

func recipients(t *testing.T, keys ...string) backup.Recipients {
	t.Helper()
	r, err := backup.ParseRecipients("--recipient", keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// modes returns the mode of everything below a path.
func modes(t *testing.T, path string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ = filepath.Rel(path, name)
		all[name] = info.Mode()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
