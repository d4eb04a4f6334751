package content

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ownFolder writes files into a new folder.
func ownFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const ownConfig = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"

var embedded = fstest.MapFS{"kustomize-components/capi/kustomization.yaml": {Data: []byte("resources: []\n")}}

// What a component names is part of the content, and changes its hash; what none names is not.
func TestOwnComponents(t *testing.T) {
	files := map[string]string{
		"shop/kustomization.yaml": "resources: [config.yaml, ../base]\n", "shop/config.yaml": ownConfig,
		"base/kustomization.yaml": "resources: [other.yaml]\n", "base/other.yaml": strings.Replace(ownConfig, "x", "y", 1),
		"shop/.env": "PASSWORD=hunter2\n", "unused/kustomization.yaml": "resources: ['https://example.org/x']\n",
	}
	paths := []string{"./kustomize-components/shop/", "./kustomize-components/capi", "./elsewhere", "../shop"}
	hash := func() string {
		profile := map[string][]byte{"kustomize-components/lab/kustomization.yaml": []byte("resources: []\n")}
		own, err := Own(embedded, profile, ownFolder(t, files), paths)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"base/kustomization.yaml", "base/other.yaml", "lab/kustomization.yaml", "shop/config.yaml",
			"shop/kustomization.yaml"}
		for i := range want {
			want[i] = "kustomize-components/" + want[i]
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(own))); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		tree, err := PublishOptions{FS: embedded, Profile: own}.Tree(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tree.Hash()
	}
	first := hash()
	if first != hash() {
		t.Error("the same folder has two hashes")
	}
	files["base/other.yaml"] += "data: {a: b}\n"
	if first == hash() {
		t.Error("a change of the folder does not change the hash of the content")
	}
}

func TestOwnComponentsAreRefused(t *testing.T) {
	const kustomization = "shop/kustomization.yaml"
	large := map[string]string{kustomization: "resources: [a.yaml, b.yaml]\n"}
	for _, name := range []string{"a", "b"} {
		large["shop/"+name+".yaml"] = strings.Replace(ownConfig, "x", name, 1) + "data: {a: '" +
			string(bytes.Repeat([]byte("x"), 9<<20)) + "'}\n"
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"remote": {map[string]string{kustomization: "resources: ['https://example.org/x.yaml']\n"},
			"is no local path"},
		"Git": {map[string]string{kustomization: "resources: ['git@example.org:a/b.git']\n"},
			"is no local path"},
		"outside":          {map[string]string{kustomization: "resources: [../../x]\n"}, "leads out of"},
		"absolute":         {map[string]string{kustomization: "resources: [/etc/passwd]\n"}, "is no path relative"},
		"helm":             {map[string]string{kustomization: "helmCharts: [{name: x}]\n"}, "runs no helm"},
		"no file":          {map[string]string{kustomization: "resources: [x.yaml]\n"}, "is neither a file nor a folder"},
		"no kustomization": {map[string]string{"shop/x.yaml": ownConfig}, "there is no kustomization.yaml"},
		"no object": {map[string]string{kustomization: "resources: [x.yaml]\n", "shop/x.yaml": "a: b\n"},
			"build "},
		"large": {large, "have more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ownFolder(t, test.files)
			own, err := Own(embedded, nil, dir, []string{"./kustomize-components/shop"})
			if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), test.want) ||
				fault.HintOf(err) == "" || own != nil {
				t.Errorf("got %v (hint %q), want %q", err, fault.HintOf(err), test.want)
			}
		})
	}
}
