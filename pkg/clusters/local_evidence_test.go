package clusters

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// The state folder shows whether a pivot may have begun.
func TestTraces(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		files    []string
		backup   string // in the folder
		building bool
	}{
		"no folder":    {},
		"a kubeconfig": {files: []string{"kubeconfig", "id"}},
		"a backup": {files: []string{"kubeconfig", "kubeadm-capd-20260102T020405Z"},
			backup: "kubeadm-capd-20260102T020405Z"},
		"two, of which one is encrypted": {files: []string{"kubeadm-capd-20260102T020405Z",
			"kubeadm-capd-20260103T020405Z.tar.age"}, backup: "kubeadm-capd-20260103T020405Z.tar.age"},
		"a record without its backup": {files: []string{"kubeconfig", "kubeadm-capd-20260102T020405Z.unverified"},
			backup: "kubeadm-capd-20260102T020405Z.unverified"},
		"another cluster's": {files: []string{"kubeadm-20260102T020405Z"}},
		"a bootstrap cluster": {files: []string{"kubeconfig", "bootstrap.kubeconfig", "bootstrap.built"},
			building: true},
		"one that was looked at only": {files: []string{"kubeconfig", "bootstrap.kubeconfig"}},
		"both": {files: []string{"bootstrap.built", "kubeadm-capd-20260102T020405Z"},
			backup: "kubeadm-capd-20260102T020405Z", building: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &World{Subject: Subject{Identity: IdentityOf(env), StateFolder: filepath.Join(t.TempDir(), "state")}}
			for _, file := range tc.files {
				if err := writeFile(filepath.Join(w.StateFolder, file), nil); err != nil {
					t.Fatal(err)
				}
			}
			backup := ""
			if tc.backup != "" {
				backup = filepath.Join(w.StateFolder, tc.backup)
			}
			if got := ReadLocalEvidence(w.StateFolder, w.Cluster); got.Backup != backup ||
				got.Building != tc.building || got.Err != nil {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("a folder that cannot be read", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w := &World{Subject: Subject{Identity: IdentityOf(env), StateFolder: file}}
		if got := ReadLocalEvidence(w.StateFolder, w.Cluster); got.Err == nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a run that only names the bootstrap cluster in its hints leaves none", func(t *testing.T) {
		w := &World{Subject: Subject{Identity: IdentityOf(env), StateFolder: t.TempDir()}}
		if err := w.KeepBootstrapKubeconfig(&kube.Cluster{Kubeconfig: []byte(withToken)}); err != nil ||
			ReadLocalEvidence(w.StateFolder, w.Cluster).Building {
			t.Errorf("%+v, %v", ReadLocalEvidence(w.StateFolder, w.Cluster), err)
		}
		if err := errors.Join(writeFile(w.builtPath(), nil), w.ForgetBootstrap(), w.ForgetBootstrap()); err != nil ||
			ReadLocalEvidence(w.StateFolder, w.Cluster).Building {
			t.Errorf("%+v, %v", ReadLocalEvidence(w.StateFolder, w.Cluster), err)
		}
		if left, err := os.ReadDir(w.StateFolder); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
	})
}
