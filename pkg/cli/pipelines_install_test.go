package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// installs runs the lines of a pipeline that install the released binary, against a release of one archive that has the
// names of .goreleaser.yaml, and against one whose archive was changed after its checksum was written.
func installs(t *testing.T, script []string, variables map[string]string) {
	t.Helper()
	at := slices.IndexFunc(script, func(line string) bool { return strings.Contains(line, "wget ") })
	if at < 0 {
		t.Fatalf("%q installs nothing", script)
	}
	if slices.ContainsFunc(script, func(line string) bool {
		return strings.Contains(line, "make ") ||
			strings.Contains(line, "go build")
	}) {
		t.Errorf("%q builds this repository", script)
	}
	documented, err := os.ReadFile(filepath.Join(root, "docs", "get-started", "pipeline.md"))
	if err != nil {
		t.Fatal(err)
	}
	shell := []string{"set -e", "if test ! -x bin/cluster-init; then", "fi"} // around what the page has
	for line := range strings.Lines(script[at]) {
		line = strings.TrimSpace(line)
		if !slices.Contains(shell, line) && !strings.Contains(string(documented), "    "+line+"\n") {
			t.Errorf("docs/get-started/pipeline.md does not have the line %s", line)
		}
	}
	for _, tool := range []string{"sh", "wget", "tar", "sha256sum"} {
		prerequisite.Program(t, tool) // of the pipeline's lines
	}
	version := variables["CLUSTER_INIT_VERSION"]
	for name, tamper := range map[string]bool{"a release": false, "a release whose archive was changed": true} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(
				http.StripPrefix("/v"+version, http.FileServer(http.Dir(release(t, version, tamper)))))
			t.Cleanup(server.Close)
			run := exec.Command("sh", "-c", script[at])
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "CLUSTER_INIT_VERSION="+version, "CLUSTER_INIT_RELEASES="+server.URL)
			out, err := run.CombinedOutput()
			if tamper {
				if _, there := os.Stat(filepath.Join(run.Dir, "bin")); err == nil || there == nil {
					t.Errorf("the changed archive is installed\n%s", out)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			said, err := exec.Command(filepath.Join(run.Dir, "bin", "cluster-init")).Output()
			if err != nil || string(said) != "released\n" {
				t.Errorf("bin/cluster-init: %q, %v", said, err)
			}
		})
	}
}

// release writes an archive and its checksum, under the names that .goreleaser.yaml gives them.
func release(t *testing.T, version string, tamper bool) string {
	t.Helper()
	dir := t.TempDir()
	archive, checksums := releaseNames(t, version)
	content := packed(t, archive+"/cluster-init", "#!/bin/sh\necho released\n")
	sum := sha256.Sum256(content)
	if tamper {
		content = packed(t, archive+"/cluster-init", "#!/bin/sh\necho changed\n")
	}
	list := strings.Repeat("0", 64) + "  " + archive + ".tar.gz.other\n" + hex.EncodeToString(sum[:]) + "  " + archive +
		".tar.gz\n"
	for name, content := range map[string][]byte{archive + ".tar.gz": content, checksums: []byte(list)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// releaseNames are those of the linux archive, without .tar.gz, and of the list of checksums.
func releaseNames(t *testing.T, version string) (archive, checksums string) {
	t.Helper()
	var config struct {
		Archives []struct {
			ID           string
			NameTemplate string `json:"name_template"`
		}
		Checksum struct {
			NameTemplate string `json:"name_template"`
		}
	}
	content, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{{ .Version }}", version, "{{ .Os }}", "linux", "{{ .Arch }}", "amd64")
	return fill.Replace(config.Archives[0].NameTemplate), fill.Replace(config.Checksum.NameTemplate)
}

func packed(t *testing.T, name, content string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zip := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zip)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}
