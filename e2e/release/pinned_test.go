package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

func TestCheckPinned(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "kustomize-components", "a")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const address = "https://github.com/o/r/releases/download/v1/a.yaml"
	write(filepath.Join(folder, "kustomization.yaml"), "resources: ["+address+"]\n")
	digest := strings.Repeat("0", 64)
	sums := filepath.Join(root, "kustomize-components", "sums.txt")
	write(sums, digest+"  "+flux.ManifestsURL+"\n")
	said := fmt.Sprint(checkPinned(t.Context(), root))
	for text, want := range map[string]bool{"1 of 2": true, address: true, "`make sums`": true,
		flux.ManifestsURL: false} {
		if strings.Contains(said, text) != want {
			t.Errorf("one of two is pinned: it says %q: %t, want %t: %s", text, !want, want, said)
		}
	}
	write(sums, digest+"  "+flux.ManifestsURL+"\n"+digest+"  "+address+"\n")
	if err := checkPinned(t.Context(), root); err != nil {
		t.Errorf("both are pinned: %v", err)
	}
}
