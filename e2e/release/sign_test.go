package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestOnlyThePipelineSigns reads the configuration, as a keyless signature needs the identity of a pipeline's run.
func TestOnlyThePipelineSigns(t *testing.T) {
	var config struct {
		Signs []struct {
			Cmd, Artifacts, Signature string
			Args                      []string
		}
	}
	if err := yaml.Unmarshal(read(t, "../../.goreleaser.yaml"), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Signs) != 1 {
		t.Fatalf("signs: %+v", config.Signs)
	}
	sign := config.Signs[0]
	if sign.Cmd != "cosign" || sign.Artifacts != "checksum" || !slices.Contains(sign.Args, "--bundle=${signature}") ||
		slices.ContainsFunc(sign.Args, func(arg string) bool { return strings.HasPrefix(arg, "--key") }) {
		t.Errorf("want a keyless signature of the list of checksums: %+v", sign)
	}
	if makefile := string(read(t, "../../Makefile")); !strings.Contains(makefile, "$(if $(SIGN),,--skip=sign)") {
		t.Error("`make release` signs without SIGN=1")
	}
	var workflow struct {
		Jobs map[string]struct {
			Permissions map[string]string
			Steps       []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(read(t, "../../.github/workflows/release.yml"), &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["release"]
	signs, installs := false, false
	for _, step := range job.Steps {
		signs = signs || strings.HasPrefix(step.Run, "make release ") && strings.Contains(step.Run, "SIGN=1")
		installs = installs || strings.HasPrefix(step.Uses, "sigstore/cosign-installer@")
	}
	if !signs || !installs || job.Permissions["id-token"] != "write" {
		t.Errorf("the pipeline does not sign: %+v", job)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
