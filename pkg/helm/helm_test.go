package helm

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func example(t *testing.T) *Chart {
	t.Helper()
	c, err := Load(map[string][]byte{
		"Chart.yaml":           []byte("apiVersion: v2\nname: demo\nversion: 1.2.3\n"),
		"values.yaml":          []byte("greeting: hello\nnested: {kept: yes, given: no}\n"),
		"values.schema.json":   []byte(`{"properties": {"greeting": {"type": "integer"}}}`),
		"templates/_names.tpl": []byte(`{{ define "name" }}{{ .Release.Name }} in {{ .Release.Namespace }}{{ end }}`),
		"templates/all.yaml":   []byte(`{{ .Values.greeting }}, {{ include "name" . }}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChartsNeverChange(t *testing.T) {
	c := example(t)
	release, given := Release{"r", "n"}, map[string]any{"greeting": "hi"}
	render := func(c *Chart) string {
		t.Helper()
		files, err := c.Render(release, given)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !strings.HasSuffix(name, ".tpl") {
				all = append(all, name+": "+files[name])
			}
		}
		return strings.Join(all, "\n")
	}
	const whole = "demo/templates/all.yaml: hi, r in n"
	some := c.Only(func(template string) bool { return strings.HasSuffix(template, ".tpl") })
	if got := render(some.With("templates/alone", `{{ include "name" . }}`)); got != "demo/templates/alone: r in n" {
		t.Errorf("one template alone renders %q", got)
	}
	if got := render(some); got != "" {
		t.Errorf("no template renders %q", got)
	}
	if got := render(c); got != whole {
		t.Errorf("the chart renders %q, want %q", got, whole)
	}
	values, err := c.Values(given)
	nested, _ := values["nested"].(map[string]any)
	if err != nil || values["greeting"] != "hi" || nested["kept"] != true {
		t.Errorf("the values are %v, error %v", values, err)
	}
	nested["kept"] = false
	if c.Defaults()["nested"].(map[string]any)["kept"] != true || len(given) != 1 {
		t.Error("the values are not a copy")
	}
}

func TestLoadRefusesWhatHelmRefuses(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"no Chart.yaml": {"values.yaml": nil},
		"no version":    {"Chart.yaml": []byte("apiVersion: v2\nname: demo\n")},
	} {
		if _, err := Load(files); err == nil {
			t.Errorf("%s: it is loaded", name)
		}
	}
}

func TestMetadataHasAnotherVersion(t *testing.T) {
	c := example(t)
	text, config, err := c.Metadata("1.2.3+abc")
	if err != nil || !strings.Contains(string(text), "version: 1.2.3+abc\n") ||
		!strings.Contains(string(config), `"version":"1.2.3+abc"`) || c.Version() != "1.2.3" {
		t.Errorf("metadata %s %s of %s, error %v", text, config, c.Version(), err)
	}
}

func TestIgnoredFilesAreNotPacked(t *testing.T) {
	ignored, err := Ignored([]byte("# notes\n*.bak\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"values.yaml": false, "values.yaml.bak": true, "templates/.hidden": true} {
		if got := ignored(path, fileInfo(t)); got != want {
			t.Errorf("%s is ignored: %v", path, got)
		}
	}
	if _, err := Ignored([]byte("**/x\n")); err == nil {
		t.Error("a rule that Helm does not know is accepted")
	}
}

// fileInfo is of a regular file.
func fileInfo(t *testing.T) fs.FileInfo {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
