package vm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/vm"
)

const unlimited = 1 << 20

// demo is a machine with a bit of everything.
func demo() vm.Machine {
	return vm.Machine{Cluster: "demo", Version: "v1", PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/16",
		BinaryURL: "https://files.example/cluster-init", BinarySHA256: strings.Repeat("a", 64),
		Files:     vm.InFolder("demo", map[string][]byte{"values.yaml": []byte("cluster: {}\n")}),
		Secrets:   vm.InFolder("demo", map[string][]byte{"secrets.yaml": []byte("password: s3cret\n")}),
		Variables: map[string]string{"GITLAB_TOKEN": "glpat-x"}, Prepare: []string{"update-ca-certificates"},
		Up: []string{"--source", "git"}}
}

type written struct{ Path, Permissions, Encoding, Content string }

// filesOf reads user data as cloud-init does.
func filesOf(t *testing.T, text []byte) []written {
	t.Helper()
	if !bytes.HasPrefix(text, []byte("#cloud-config\n")) {
		t.Fatalf("it begins with %.40q", text)
	}
	var document struct {
		WriteFiles []written `json:"write_files"`
		Run        [][]string
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for i, f := range document.WriteFiles {
		if f.Encoding != "gz+b64" {
			continue
		}
		packed, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			t.Fatal(err)
		}
		zip, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		document.WriteFiles[i].Content = string(content)
	}
	return document.WriteFiles
}

func userData(t *testing.T, m vm.Machine, secrets bool) []byte {
	t.Helper()
	text, err := m.UserData(secrets, unlimited)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestUserData(t *testing.T) {
	var all strings.Builder
	for _, f := range filesOf(t, userData(t, demo(), true)) {
		if path.Base(f.Path) == "bootstrap.sh" {
			f.Content = "..."
		}
		fmt.Fprintf(&all, "==> %s %s\n%s\n", f.Path, f.Permissions, f.Content)
	}
	golden.Check(t, "files.txt", []byte(all.String()))
}

func TestUserDataWithoutSecrets(t *testing.T) {
	for _, f := range filesOf(t, userData(t, demo(), false)) {
		if strings.Contains(f.Content, "s3cret") || strings.Contains(f.Content, "glpat-x") ||
			strings.HasSuffix(f.Path, "/complete") {
			t.Errorf("%s holds a secret, or says that all are there", f.Path)
		}
	}
}

func TestUserDataHasALimit(t *testing.T) {
	text := userData(t, demo(), true)
	if _, err := demo().UserData(true, len(text)); err != nil {
		t.Error(err)
	}
	_, err := demo().UserData(true, len(text)-1)
	if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" {
		t.Errorf("too long: %v", err)
	}
}

// The archive holds what user data without secrets lacks, and ends with the file that the machine waits for.
func TestWriteSecrets(t *testing.T) {
	var packed bytes.Buffer
	if err := demo().WriteSecrets(&packed); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	last := ""
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(archive)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if header.Mode != 0o600 {
			t.Errorf("%s has mode %o", header.Name, header.Mode)
		}
		last, got["/"+header.Name] = header.Name, string(content)
	}
	if last != "etc/cluster-init/complete" {
		t.Errorf("the last file is %s", last)
	}
	want := map[string]string{}
	for _, f := range filesOf(t, userData(t, demo(), true)) {
		want[f.Path] = f.Content
	}
	for _, f := range filesOf(t, userData(t, demo(), false)) {
		delete(want, f.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A shell reads each value as it was given.
func TestValuesStayOneWord(t *testing.T) {
	hostile := []string{"", "it's", "$(touch x) `id` ${HOME}", "a\nb", `"\`, "--flag=x y", "ü; rm -rf /"}
	m := demo()
	m.Up, m.BinaryURL = hostile, "https://x/'; exit 3 #"
	m.Variables = map[string]string{"TOKEN": "a'b\n$(id)"}
	root := t.TempDir()
	for _, f := range filesOf(t, userData(t, m, true)) {
		if name := filepath.Base(f.Path); name == "settings" || name == "variables" {
			text := strings.ReplaceAll(f.Content, "'/opt/cluster-init/cluster-init'", "printf '%s|'")
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := exec.Command("sh", "-euc", `. ./settings; . ./variables; up; printf '%s|' "$binary_url" "$TOKEN"`)
	run.Dir = root
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	words := append([]string{"up", "/etc/cluster-init/environments/demo", "--bootstrap-kubeconfig",
		"/etc/kubernetes/admin.conf", "--output", "plain"}, hostile...)
	want := strings.Join(append(words, m.BinaryURL, m.Variables["TOKEN"], ""), "|")
	if string(out) != want {
		t.Errorf("%q, want %q", out, want)
	}
}
