package environment_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A folder of another user is read, but nothing in it is run or fetched, whatever it says.
func TestAFolderRunsAndFetchesNothing(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { asked += r.URL.String() }))
	defer server.Close()
	programs, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(programs, "git"), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	for name, kustomization := range map[string]string{
		"an option of git":    "resources: [\"file:///nonexistent?ref=--upload-pack=id%20>%20/tmp/x%20%23\"]\n",
		"a server":            "resources: [\"" + server.URL + "/x\"]\n",
		"a variable in a URL": "resources: [\"" + server.URL + "/${OS_PASSWORD}\"]\n",
		"a variable in a patch": "resources: [../kubeadm-capd]\npatches: [{path: \"" + server.URL +
			"/${GITLAB_TOKEN}\"}]\n",
		"a variable in a name": "resources: [../kubeadm-capd]\nconfigMapGenerator: [{name: \"${GITLAB_TOKEN}\", " +
			"literals: [a=b]}]\n",
		"a variable in a file that a generator names first": "resources: [../kubeadm-capd]\n" +
			"configMapGenerator: [{name: g, files: [patch.yaml]}]\ntransformers: [patch.yaml]\n",
		"a variable in a file": "resources: [../kubeadm-capd, more.yaml]\n",
	} {
		t.Run(name, func(t *testing.T) {
			own := folder(t, map[string]string{"kustomization.yaml": kustomization,
				"patch.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\n" +
					"path: \"${GITLAB_TOKEN}\"\n",
				"more.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: \"${GITLAB_TOKEN}\"}\n"})
			_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content(),
				Variables: func(string) (string, bool) { return "s3cret", true }})
			if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), own+"/") ||
				!strings.Contains(err.Error(), "line ") || fault.HintOf(err) == "" {
				t.Errorf("got %v (%s)", err, fault.HintOf(err))
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a variable: %v", err)
			}
		})
	}
	if _, err := os.Stat(marker); asked != "" || err == nil {
		t.Errorf("a server was asked for %q; a program ran: %v", asked, err == nil)
	}
}

// An environment has its own folder and those next to it; a link from there to other places is refused by name.
func TestFilesOfAnEnvironmentAreBesideIt(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(elsewhere, []byte("components: {capd: {enabled: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]map[string]string{
		"environment.yaml": {"environment.yaml": "from: kubeadm-capd\n"},
		"a kustomization":  {"kustomization.yaml": onBase},
	} {
		own := folder(t, files)
		if err := os.Symlink(elsewhere, filepath.Join(own, "values.yaml")); err != nil {
			t.Fatal(err)
		}
		_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content()})
		if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "leads out of ") ||
			!strings.Contains(err.Error(), "values.yaml") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	shared := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n"})
	if err := os.WriteFile(filepath.Join(filepath.Dir(shared), "shared.yaml"), []byte("cluster: {name: shared}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../shared.yaml", filepath.Join(shared, "values.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := load(t, environment.Options{Name: shared}).ClusterName(); got != "shared" {
		t.Errorf("the cluster is called %s", got)
	}
}
