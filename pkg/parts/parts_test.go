package parts_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/parts"
)

func TestFromImage(t *testing.T) {
	for reference, want := range map[string]parts.Part{
		"kindest/node:v1.37.0@sha256:abc":  {Version: "v1.37.0", Origin: "kindest/node"},
		"registry.example:5000/a/b":        {Origin: "registry.example:5000/a/b"},
		"registry.example:5000/a/b:v1":     {Version: "v1", Origin: "registry.example:5000/a/b"},
		"registry.example/a/b@sha256:abcd": {Origin: "registry.example/a/b"},
	} {
		if got := parts.FromImage("", reference); !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", reference, got, want)
		}
	}
}

func TestFromContent(t *testing.T) {
	content := fstest.MapFS{
		"kustomize-components/b/two/kustomization.yaml": {Data: []byte(`resources:
  - https://raw.githubusercontent.com/o/r/v2/x/y.yaml
  - https://raw.githubusercontent.com/o/r/v2/x/z.yaml
  - local.yaml
images: [{name: example.org/i, newTag: v3}, {name: example.org/j, newName: example.org/k, newTag: v4}]
`)},
		"kustomize-components/b/two/local.yaml": {Data: []byte(`spec: {image: "${OF_THE_USER}"}
---
spec: {containers: [{image: "example.org/c:v5"}], initContainers: [{image: "example.org/d:v6"}]}
`)},
		"kustomize-components/a/kustomization.yaml": {Data: []byte(
			"resources: [\"https://github.com/o/r/releases/download/v1/f.yaml\"]\n")},
	}
	got, err := parts.FromContent(content)
	if err != nil {
		t.Fatal(err)
	}
	want := []parts.Part{
		{Name: "a", Version: "v1", Origin: "github.com/o/r"},
		{Name: "b/two", Version: "v5", Origin: "example.org/c"},
		{Name: "b/two", Version: "v6", Origin: "example.org/d"},
		{Name: "b/two", Version: "v3", Origin: "example.org/i"},
		{Name: "b/two", Version: "v4", Origin: "example.org/k"},
		{Name: "b/two", Version: "v2", Origin: "github.com/o/r"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFromContentRefusesWhatItCannotRead(t *testing.T) {
	for name, text := range map[string]string{
		"an address without a version": "resources: [\"https://example.org/latest.yaml\"]\n",
		"no YAML":                      "resources: [\n",
	} {
		content := fstest.MapFS{"kustomize-components/a/kustomization.yaml": {Data: []byte(text)}}
		if _, err := parts.FromContent(content); err == nil ||
			!strings.Contains(err.Error(), "kustomize-components/a/kustomization.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every part of the real content has a version, and each component that fetches something is there.
func TestFromEmbeddedContent(t *testing.T) {
	got, err := parts.FromContent(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range got {
		if part.Version == "" || part.Origin == "" {
			t.Errorf("%+v has no version or origin", part)
		}
	}
	for _, name := range []string{"capi", "cabpk/bootstrap", "cabpr/control-plane", "capd", "capo", "capa", "orc",
		"cert-manager", "cni/calico", "cinder-csi", "cloud-provider/capo"} {
		if !slices.ContainsFunc(got, func(p parts.Part) bool { return p.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestFromModule(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.2.3"},
		{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1"}},
	}}
	for module, want := range map[string]parts.Part{
		"example.org/a": {Name: "n", Version: "v1.2.3", Origin: "example.org/a"},
		"example.org/b": {Name: "n", Version: "v1.0.1", Origin: "example.org/fork"},
		"example.org/c": {Name: "n", Version: parts.Unknown, Origin: "example.org/c"},
	} {
		if got := parts.FromModule("n", module, info); !cmp.Equal(got, want) {
			t.Errorf("%s: %+v", module, got)
		}
	}
	if got := parts.FromModule("n", "example.org/a", nil); got.Version != parts.Unknown {
		t.Errorf("a binary without build information has version %s", got.Version)
	}
}
