package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func example(folder string) Installation {
	return Installation{
		Folder: folder, Packages: "/packages", Address: "192.0.2.1",
		Secrets: Secrets{Database: "DATABASE", Messages: "MESSAGES", Admin: "ADMIN", Service: "SERVICE", Demo: "DEMO"},
	}
}

// A value that a template does not find is written as "<no value>" or as nothing behind "=".
func TestFilesAreComplete(t *testing.T) {
	entries, err := files.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		got, err := example("/state").Render(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(entry.Name(), ".conf") || entry.Name() == "rabbitmq.conf" {
			continue
		}
		for number, line := range strings.Split(string(got), "\n") {
			key, value, isValue := strings.Cut(line, " = ")
			section := strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
			if line == "" || section || strings.HasPrefix(line, "#") {
				continue
			}
			if !isValue || key == "" || strings.TrimSpace(value) == "" || strings.Contains(line, "<no value>") {
				t.Errorf("%s:%d: %q is neither a section nor a key with its value", entry.Name(), number+1, line)
			}
		}
	}
}

// nova-compute refuses to start where it sees a database.
func TestComputeSeesNoDatabase(t *testing.T) {
	names := []string{"nova.conf"}
	for _, compute := range Computes() {
		names = append(names, "nova-"+compute+".conf")
	}
	for _, name := range names {
		content, err := example("/state").Render(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "mysql") || strings.Contains(string(content), "DATABASE") {
			t.Errorf("%s names a database", name)
		}
	}
}

func TestAllThatIsWrittenIsForItsUserOnly(t *testing.T) {
	installation := example(filepath.Join(t.TempDir(), "state"))
	if err := installation.WriteAll(); err != nil {
		t.Fatal(err)
	}
	if err := installation.WriteAll(); err != nil {
		t.Fatalf("a second time: %v", err)
	}
	found := 0
	err := filepath.Walk(installation.Folder, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		found++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || found < 10 {
		t.Errorf("%d files, %v", found, err)
	}
	for _, file := range []string{installation.File("neutron.conf"),
		filepath.Join(installation.Python(), "lab-1.dist-info", "entry_points.txt")} {
		if content, err := os.ReadFile(file); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", file, len(content), err)
		}
	}
}

func TestSecretsAreMadeOnceAndDifferEverywhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secrets.json")
	first, err := OpenSecrets(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenSecrets(file)
	if err != nil || again != first {
		t.Errorf("opened again: the same: %t, %v", again == first, err)
	}
	other, err := OpenSecrets(filepath.Join(t.TempDir(), "secrets.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, secrets := range []Secrets{first, other} {
		for _, secret := range []string{secrets.Database, secrets.Messages, secrets.Admin, secrets.Service,
			secrets.Demo} {
			if len(secret) < 32 || seen[secret] {
				t.Errorf("a password is short, or not the only one like it")
			}
			seen[secret] = true
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSecrets(file); err == nil {
		t.Error("a broken file was taken for secrets")
	}
}
