package environment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// valuesOnPage returns the indented blocks of a page that are values.
func valuesOnPage(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n\n") {
		if rest, indented := strings.CutPrefix(part, "    "); indented && !strings.HasPrefix(rest, "cluster-init ") {
			blocks = append(blocks, strings.ReplaceAll(rest, "\n    ", "\n"))
		}
	}
	return blocks
}

// docs/guides/rancher.md is an example to copy: its values are valid, and become what the page says.
func TestPageOfRancher(t *testing.T) {
	blocks := valuesOnPage(t, "../../docs/guides/rancher.md")
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of values, want those of values, secrets and the import: %q", len(blocks), blocks)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{environment.FromFile: "from: kubeadm-capd\n",
		environment.OwnValuesFile: blocks[0], environment.OwnSecretsFile: blocks[1], "import.yaml": blocks[2]} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := load(t, environment.Options{Name: folder, ValuesFiles: []string{filepath.Join(folder, "import.yaml")}})
	for name, source := range map[string]string{"ingress": "https://traefik.github.io/charts",
		"rancher": "https://releases.rancher.com/server-charts/stable"} {
		objects := chartObjects(t, env, name, nil)
		if url, _, _ := unstructured.NestedString(find(t, objects, "HelmRepository", "chart-"+name).Object, "spec",
			"url"); url != source {
			t.Errorf("%s comes from %q", name, url)
		}
		find(t, objects, "HelmRelease", name)
	}
	secret := find(t, chartObjects(t, env, "rancher", nil), "Secret", "chart-values-rancher")
	values, _, _ := unstructured.NestedString(secret.Object, "stringData", "values.yaml")
	for _, part := range []string{`"bootstrapPassword":"CHANGE-ME"`, `"hostname":"rancher.example.org"`} {
		if !strings.Contains(values, part) {
			t.Errorf("the values %s lack %s", values, part)
		}
	}
	objects := rendered(t, env)
	depends, _, _ := unstructured.NestedSlice(find(t, objects, "Kustomization", "rancher").Object, "spec", "dependsOn")
	if len(depends) != 2 {
		t.Errorf("rancher waits for %v", depends)
	}
	find(t, objects, "GitRepository", "rancher-import")
}
