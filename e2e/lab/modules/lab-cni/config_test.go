package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteConfigNamesThePodCIDR(t *testing.T) {
	dir := t.TempDir()
	for _, cidr := range []string{"10.1.0.0/24", "10.1.7.0/24"} {
		if err := writeConfig(dir, cidr); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, configName))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), `"subnet": "`+cidr+`"`) {
			t.Errorf("no %s in\n%s", cidr, content)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("want the one file only, got %v (%v)", entries, err)
	}
}
