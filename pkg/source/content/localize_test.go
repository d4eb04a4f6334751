package content

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

func localizeInput() Tree {
	return Tree{
		"k/app/kustomization.yaml": []byte(`# the app, as upstream releases it
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - https://example.org/app/v1/components.yaml # pinned
  - https://example.org/other/v2/components.yaml
  - ../base
  - namespace.yaml
  - https://example.org/org/repo//config?ref=v1
components:
  - ../part
labels:
  - pairs: {a: b}
`),
		"k/app/namespace.yaml":          []byte("kind: Namespace\n"),
		"k/app/lab/kustomization.yml":   []byte("resources: [..]\n"),
		"k/base/kustomization.yaml":     []byte("resources: [\"https://example.org/base/install.yml\"]\n"),
		"k/part/kustomization.yaml":     []byte("kind: Component\nresources:\n- https://example.org/part\n"),
		"k/disabled/kustomization.yaml": []byte("resources:\n- https://example.org/disabled.yaml\n"),
	}
}

func localizeRemote() remoteFiles {
	return remoteFiles{
		"https://example.org/app/v1/components.yaml":   "kind: App\nname: ${NAME:=app}\n",
		"https://example.org/other/v2/components.yaml": "kind: Other\n",
		"https://example.org/base/install.yml":         "kind: Base\n",
		"https://example.org/part":                     "kind: Part\n",
	}
}

func TestLocalizeGolden(t *testing.T) {
	input := localizeInput()
	before := input.Hash()
	got, err := Localize(context.Background(), input, []string{"./k/app/lab", "k/app"}, localizeRemote())
	if err != nil {
		t.Fatal(err)
	}
	if input.Hash() != before {
		t.Error("the given tree was changed")
	}
	var text bytes.Buffer
	for _, p := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&text, "-- %s --\n%s", p, got[p])
	}
	golden.Check(t, "localized.txt", text.Bytes())
}

func TestLocalizeNamesMissingManifest(t *testing.T) {
	remote := localizeRemote()
	delete(remote, "https://example.org/base/install.yml")
	_, err := Localize(context.Background(), localizeInput(), []string{"k/app"}, remote)
	if fault.CodeOf(err) != fault.BundleInvalid {
		t.Errorf("code %s", fault.CodeOf(err))
	}
	if err == nil || !strings.Contains(err.Error(), "https://example.org/base/install.yml") ||
		!strings.Contains(err.Error(), "k/base/kustomization.yaml") {
		t.Errorf("error %v names neither the URL nor the file", err)
	}
}

func TestLocalizeMalformedKustomization(t *testing.T) {
	tree := Tree{"k/kustomization.yaml": []byte("resources: [a\n")}
	_, err := Localize(context.Background(), tree, []string{"k"}, remoteFiles{})
	if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "k/kustomization.yaml") {
		t.Errorf("got %v (%s)", err, fault.CodeOf(err))
	}
}

func TestRemoteFilesListsWithoutFetching(t *testing.T) {
	got, err := RemoteFiles(context.Background(), localizeInput(), []string{"k/app/lab"})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(localizeRemote())); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTreeHashSeesPathsAndContents(t *testing.T) {
	base := Tree{"a": []byte("1"), "b": []byte("2")}
	for name, other := range map[string]Tree{
		"content": {"a": []byte("1"), "b": []byte("3")},
		"path":    {"a": []byte("1"), "c": []byte("2")},
		"swapped": {"a": []byte("2"), "b": []byte("1")},
		"fewer":   {"a": []byte("1")},
	} {
		if base.Hash() == other.Hash() {
			t.Errorf("%s: the hash does not see the difference", name)
		}
	}
	read, err := ReadTree(fstest.MapFS{"a": {Data: []byte("1")}, "b": {Data: []byte("2")}}, ".")
	if err != nil || read.Hash() != base.Hash() {
		t.Errorf("a tree read from files has hash %s, %v", read.Hash(), err)
	}
}
