package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWriteManPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(folder, "cluster-init-gone.1")
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeManPages(folder, "v1.2.3", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "cluster-init-up.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`.TH "CLUSTER-INIT-UP" "1" "Jan 2026" "cluster-init v1.2.3"`, `--registry-binary`} {
		if !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), want) {
			t.Errorf("cluster-init-up.1 does not have %s:\n%.300s", want, page)
		}
	}
	for _, name := range []string{gone, filepath.Join(folder, "cluster-init-registry.1")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("there is a page %s of a command that users do not have", filepath.Base(name))
		}
	}
}

func TestWriteCompletions(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "completions")
	if err := writeCompletions(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"cluster-init.bash": "__start_cluster-init", "_cluster-init": "#compdef cluster-init",
		"cluster-init.fish": "complete -c cluster-init",
	} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s does not have %q (%v)", name, want, err)
		}
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		if out, err := exec.Command(bash, "-n",
			filepath.Join(folder, "cluster-init.bash")).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
