package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

func component(spec map[string]any) *unstructured.Unstructured {
	spec["path"] = "./components/x"
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Kustomization", "metadata": map[string]any{"name": "x"}, "spec": spec}}
}

func files(t *testing.T, tree map[string]string) filesys.FileSystem {
	t.Helper()
	memory := filesys.MakeFsInMemory()
	for name, text := range tree {
		if err := memory.WriteFile("/components/x/"+name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return memory
}

// Content whose kustomization names a Git repository is refused; git does not run.
func TestApplyRunsNothing(t *testing.T) {
	programs, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(programs, "git"), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	kustomizer := flux.NewKustomizer(files(t, map[string]string{"kustomization.yaml": "resources: [\"file:///x?ref=--upload-pack=id\"]\n"}), true)
	_, err := kustomizer.Apply(t.Context(), component(map[string]any{}), nil)
	if err == nil || !strings.Contains(err.Error(), "components/x/kustomization.yaml: line 1: resources: ") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("git ran")
	}
}
