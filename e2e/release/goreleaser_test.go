package main

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// goreleaserConfig is what the tests read of .goreleaser.yaml.
type goreleaserConfig struct {
	Builds   []goreleaserBuild
	Archives []struct {
		IDs, Formats []string
		NameTemplate string `json:"name_template"`
	}
	SBOMs []struct {
		Artifacts      string
		IDs, Documents []string
	}
}

type goreleaserBuild struct {
	ID, Main, Binary                  string
	Goos, Goarch, Env, Flags, LDFlags []string
	Hooks                             struct{ Post []string }
}

func readGoreleaser(t *testing.T) goreleaserConfig {
	t.Helper()
	var config goreleaserConfig
	if err := yaml.Unmarshal(read(t, "../../.goreleaser.yaml"), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// A released machineadm has the digest of the one that `make machineadm` makes of the same commit. It has no stamp of
// the commit either: then a release that does not change it keeps its digest, and replaces no machine.
func TestMachineadmIsBuiltAsByMake(t *testing.T) {
	makefile := string(read(t, "../../Makefile"))
	for _, want := range []string{"-trimpath\n", "build -buildvcs=false -ldflags '-s -w' -o bin/machineadm-$$arch"} {
		if !strings.Contains(makefile, want) {
			t.Errorf("the Makefile has no %q", want)
		}
	}
	builds := readGoreleaser(t).Builds
	i := slices.IndexFunc(builds, func(b goreleaserBuild) bool { return b.ID == "machineadm" })
	if i < 0 {
		t.Fatal(".goreleaser.yaml does not build machineadm")
	}
	b := builds[i]
	if b.Main != "./cmd/machineadm" || !slices.Equal(b.Goos, []string{"linux"}) ||
		!slices.Equal(b.Goarch, []string{"amd64", "arm64"}) || !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) ||
		!slices.Equal(b.Flags, []string{"-trimpath", "-buildvcs=false"}) || !slices.Equal(b.LDFlags, []string{"-s -w"}) {
		t.Errorf("it is built by other flags than in the Makefile: %+v", b)
	}
}

// `sha256sum -c` and `release verify` look for the file in dist, under the name that users get.
func TestMachineadmIsAPlainFile(t *testing.T) {
	const name = "machineadm_{{ .Version }}_{{ .Os }}_{{ .Arch }}"
	config := readGoreleaser(t)
	for _, b := range config.Builds {
		if b.ID == "machineadm" && !slices.Equal(b.Hooks.Post, []string{"cp -p '{{ .Path }}' dist/" + name}) {
			t.Errorf("the build does not copy it to dist/%s: %+v", name, b)
		}
	}
	for _, a := range config.Archives {
		if slices.Contains(a.IDs, "machineadm") {
			if a.NameTemplate != name || !slices.Equal(a.Formats, []string{"binary"}) || len(a.IDs) != 1 {
				t.Errorf("it is not published as it is: %+v", a)
			}
			return
		}
	}
	t.Error("no entry of archives publishes machineadm")
}

// Two programs for one platform must not write the same SBOM.
func TestEachBuildHasItsSBOM(t *testing.T) {
	config := readGoreleaser(t)
	documents, ids := map[string]bool{}, map[string]int{}
	for _, s := range config.SBOMs {
		if s.Artifacts != "binary" || len(s.Documents) != 1 || documents[s.Documents[0]] {
			t.Errorf("the document is that of another entry, or not of binaries: %+v", s)
		}
		documents[s.Documents[0]] = true
		for _, id := range s.IDs {
			ids[id]++
		}
	}
	for _, b := range config.Builds {
		if ids[b.ID] != 1 {
			t.Errorf("%d entries of sboms have the build %s, want one", ids[b.ID], b.ID)
		}
	}
}
