package environment_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// chartOnDisk writes the embedded chart to a folder: lint reads only from the disk.
func chartOnDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	content, err := fs.Sub(clusterinit.Content(), "charts")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, content); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "telco-cloud-init")
}

func TestChartLints(t *testing.T) {
	folder := chartOnDisk(t)
	for name, file := range map[string]string{"defaults": "values.yaml", "bootstrap": "bootstrap.values.yaml",
		"workload": "workload.values.yaml"} {
		values, err := chartutil.ReadValuesFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range lint.All(folder, values, "flux-system", true).Messages {
			// An icon is for chart catalogues.
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

// A plain `helm install` on an existing cluster uses the defaults and nothing else.
func TestDefaultsInstallProvidersOnly(t *testing.T) {
	loaded, err := loader.Load(chartOnDisk(t))
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "telco-cloud-init", Namespace: "elsewhere", Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(loaded, nil, release, nil)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(loaded, values)
	if err != nil {
		t.Fatal(err)
	}
	text := rendered["telco-cloud-init/templates/kustomizations.yaml"]
	for name, want := range map[string]bool{"cert-manager": true, "capi": true, "cabpk": true, "capd": false,
		"cluster": false, "cni": false} {
		if got := strings.Contains(text, fmt.Sprintf("\n  name: %q\n  namespace: \"elsewhere\"\n", name)); got != want {
			t.Errorf("component %s rendered: %v, want %v", name, got, want)
		}
	}
	if notes := rendered["telco-cloud-init/templates/NOTES.txt"]; !strings.Contains(notes, "  capi\n") ||
		strings.Contains(notes, "  capd\n") {
		t.Errorf("NOTES.txt does not list what is enabled:\n%s", notes)
	}
}

// A template of the chart may write a comment, or an object, on the line that separates its objects.
func TestNoObjectOfTheChartIsHidden(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: contentWith(t,
		"charts/telco-cloud-init/templates/more.yaml", "kind: First\n--- # why\nkind: Second\n--- {kind: Third}\n")})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := env.Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
	}
	for _, want := range []string{"First", "Second", "Third"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("%s is not in %q", want, kinds)
		}
	}
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	data, err := fs.ReadFile(clusterinit.Content(), "charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	described(t, "", schema)

	// And every default has its place in it.
	defaults, err := fs.ReadFile(clusterinit.Content(), "charts/telco-cloud-init/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	values, err := chartutil.ReadValues(defaults)
	if err != nil {
		t.Fatal(err)
	}
	properties := schema["properties"].(map[string]any)
	for key := range values {
		if properties[key] == nil {
			t.Errorf("values.yaml has %s, the schema has not", key)
		}
	}
	for key := range properties {
		if _, ok := values[key]; !ok && key != "global" { // Helm itself gives it to a chart that is part of another
			t.Errorf("the schema has %s, values.yaml has not", key)
		}
	}
}

func described(t *testing.T, path string, schema map[string]any) {
	t.Helper()
	if text, _ := schema["description"].(string); text == "" {
		t.Errorf("%s: no description", path)
	}
	properties, _ := schema["properties"].(map[string]any)
	for key, property := range properties {
		described(t, path+"/"+key, property.(map[string]any))
	}
	for _, key := range []string{"additionalProperties", "items"} {
		if nested, ok := schema[key].(map[string]any); ok {
			described(t, path+"/*", nested)
		}
	}
}
