package environment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// onPage returns the blocks of values on a page that begin with a key, without those that leave something out.
func onPage(t *testing.T, page, key string) (files []string) {
	t.Helper()
	for _, block := range valuesOnPage(t, "../../docs/guides/"+page) {
		if !strings.HasPrefix(block, key+":") || strings.Contains(block, "...") {
			continue
		}
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.yaml", key, len(files)))
		if err := os.WriteFile(file, []byte(block+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// What the pages of components show is valid, each example alone.
func TestComponentsOnTheirPage(t *testing.T) {
	files := onPage(t, "components.md", "components")
	if len(files) != 3 {
		t.Fatalf("the page has %d examples, want a provider, a folder and a chart", len(files))
	}
	for i, enabled := range []string{"capv", "shop", "shop"} {
		find(t, rendered(t, load(t, environment.Options{ValuesFiles: files[i : i+1]})), "Kustomization", enabled)
	}
}

// The values that have no page of their own become what the pages say: a repository with its login, the logins of
// registries, and the values in the cluster, with neither of the logins.
func TestValuesOnTheirPages(t *testing.T) {
	var files []string
	for _, example := range []struct {
		page, key string
		blocks    int
	}{{"components.md", "git_repo_templates", 2}, {"credentials.md", "registry_secret", 1},
		{"environment.md", "debug_values", 1}} {
		found := onPage(t, example.page, example.key)
		if len(found) != example.blocks {
			t.Fatalf("%s has %d examples of %s, want %d", example.page, len(found), example.key, example.blocks)
		}
		files = append(files, found...)
	}
	objects := rendered(t, load(t, environment.Options{ValuesFiles: files}))
	find(t, objects, "GitRepository", "apps")
	find(t, objects, "Kustomization", "ingress")
	for kind, name := range map[string]string{"Secret": "telco-cloud-init-machine-registries",
		"ConfigMap": environment.DebugValuesName} {
		text, err := find(t, objects, kind, name).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(text), "TOKEN"); has != (kind == "Secret") {
			t.Errorf("%s %s has the login: %t", kind, name, has)
		}
	}
}
