package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// files is a Fetcher of known files.
type files map[string]string

func (f files) Fetch(_ context.Context, address string) ([]byte, error) {
	if data, found := f[address]; found {
		return []byte(data), nil
	}
	return nil, errors.New("404: " + address)
}

// What this repository pins is what its components name: after an update of a component its old digest is of no use.
func TestSumsOfThisRepository(t *testing.T) {
	sums, err := content.ReadSums(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	urls, err := releaseFiles(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(urls) < 10 || !slices.Contains(urls, flux.ManifestsURL) {
		t.Errorf("the components name %d release files: %v", len(urls), urls)
	}
	for address := range sums {
		if !slices.Contains(urls, address) {
			t.Errorf("%s pins %s, which no component names: run make sums", content.SumsFile, address)
		}
	}
}

func TestWriteSums(t *testing.T) {
	const component, old = "https://example.org/v2/app.yaml", "https://example.org/v1/app.yaml"
	root := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	before := "# why\n" + content.Sum(nil) + "  " + old + "\n"
	write(content.SumsFile, before)
	write("kustomize-components/app/kustomization.yaml", "resources: [part]\n")
	write("kustomize-components/app/part/kustomization.yaml", "resources: ["+component+"]\n")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(content.SumsFile)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := writeSums(t.Context(), root, files{component: "a"}); err == nil ||
		!strings.Contains(err.Error(), flux.ManifestsURL) || read() != before {
		t.Errorf("a file that cannot be fetched: %v, wrote %q", err, read())
	}
	if err := writeSums(t.Context(), root, files{component: "a", flux.ManifestsURL: "b"}); err != nil {
		t.Fatal(err)
	}
	want := "# why\n" + content.Sum([]byte("a")) + "  " + component + "\n" + content.Sum([]byte("b")) + "  " +
		flux.ManifestsURL + "\n"
	if read() != want {
		t.Errorf("wrote\n%s\nwant\n%s", read(), want)
	}
}
