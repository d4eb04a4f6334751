//go:build integration

package pivot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

func TestBackupHoldsAllThatMovesAndIsPrivate(t *testing.T) {
	s := newStage(t)
	planned := s.keys(s.Source.Client)
	result, err := pivot.Run(t.Context(), s.Input)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(s.BackupDir, "mgmt-20260102T030405Z"); result.Backup != want {
		t.Errorf("the backup is %s, want %s", result.Backup, want)
	}
	if info, err := os.Stat(result.Backup); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has %v, %v, want 0700", info.Mode(), err)
	}
	files, err := os.ReadDir(filepath.Join(result.Backup, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	var saved []string
	for _, f := range files {
		if info, _ := f.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %s, want 0600", f.Name(), info.Mode())
		}
		text, err := os.ReadFile(filepath.Join(result.Backup, "objects", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &u.Object); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, capi.ObjectOf(u).String())
		if u.GetName() == "mgmt-kubeconfig" && !strings.Contains(string(text), "dGhlLWt1YmVjb25maWc=") {
			t.Errorf("the kubeconfig Secret has lost its value:\n%s", text)
		}
	}
	slices.Sort(saved)
	if !slices.Equal(saved, planned) {
		t.Errorf("saved\n%s\nwant\n%s", strings.Join(saved, "\n"), strings.Join(planned, "\n"))
	}
}

// TestBackupCanBeRestored uses the backup as its user would: with clusterctl, into a cluster that has lost everything.
func TestBackupCanBeRestored(t *testing.T) {
	s := newStage(t)
	planned := s.keys(s.Source.Client)
	result, err := pivot.Run(t.Context(), s.Input)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, servers.source.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := config.New(t.Context(), "", config.InjectReader(config.NewMemoryReader()))
	if err != nil {
		t.Fatal(err)
	}
	restorer, err := clusterctl.New(t.Context(), "", clusterctl.InjectConfig(settings))
	if err != nil {
		t.Fatal(err)
	}
	err = restorer.Move(t.Context(), clusterctl.MoveOptions{
		FromDirectory: filepath.Join(result.Backup, "objects"), ToKubeconfig: clusterctl.Kubeconfig{Path: kubeconfig},
		Namespace: s.Scope.Namespace,
	})
	if err != nil {
		t.Fatal(err)
	}
	if restored := s.keys(s.Source.Client); !slices.Equal(restored, planned) {
		t.Errorf("restored\n%s\nwant\n%s", strings.Join(restored, "\n"), strings.Join(planned, "\n"))
	}
	clusters, err := capi.Clusters(t.Context(), s.Source.Client, s.Scope.Namespace)
	if err != nil || len(clusters) != 1 || clusters[0].Paused {
		t.Errorf("the restored clusters are %+v, %v, want one that is active", clusters, err)
	}
}
