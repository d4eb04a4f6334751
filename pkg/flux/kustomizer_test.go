package flux_test

import (
	"errors"
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
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Kustomization",
		"metadata": map[string]any{"name": "x"}, "spec": spec}}
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
	kustomizer := flux.NewKustomizer(files(
		t, map[string]string{"kustomization.yaml": "resources: [\"file:///x?ref=--upload-pack=id\"]\n"}))
	_, err := kustomizer.Apply(t.Context(), component(map[string]any{}), nil)
	if err == nil || !strings.Contains(err.Error(), "components/x/kustomization.yaml: line 1: resources: ") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("git ran")
	}
}

// A component is judged as the Flux that is installed judges it: without variables its manifests stay as they are, with
// one every other must have a value or a default.
func TestApplyFillsInVariablesAsFluxDoes(t *testing.T) {
	const script = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: script}\ndata:\n  run.sh: TEXT\n"
	for name, tc := range map[string]struct {
		text      string
		postBuild map[string]any
		want, err string
	}{
		"no variables":        {text: `rm -rf "${TARGET_DIR}/cache"`, want: `rm -rf "${TARGET_DIR}/cache"`},
		"only other settings": {text: "${A}", postBuild: map[string]any{}, want: "${A}"},
		"a variable": {text: "${A} ${B:=c}",
			postBuild: map[string]any{"substitute": map[string]any{"A": "b"}}, want: "b c"},
		"one without a value": {text: `rm -rf "${TARGET_DIR}/cache"`,
			postBuild: map[string]any{"substitute": map[string]any{"A": "b"}}, err: "ConfigMap script: envsubst " +
				"error: variable substitution failed: variable not set (strict mode): \"TARGET_DIR\""},
		"one that stays": {text: "$${HOME}", postBuild: map[string]any{"substitute": map[string]any{"A": "b"}},
			want: "${HOME}"},
		"always": {text: "${B:=c}", postBuild: map[string]any{"substituteStrategy": "Always"},
			want: "c"},
		"always, without a value": {text: "${B}", postBuild: map[string]any{"substituteStrategy": "Always"},
			err: "strict mode"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{}
			if tc.postBuild != nil {
				spec["postBuild"] = tc.postBuild
			}
			kustomizer := flux.NewKustomizer(
				files(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n",
					"a.yaml": strings.ReplaceAll(script, "TEXT", "'"+tc.text+"'")}))
			objects, err := kustomizer.Apply(t.Context(), component(spec), nil)
			if tc.err != "" {
				var wrong flux.SubstitutionError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedString(objects[0].Object, "data", "run.sh"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
