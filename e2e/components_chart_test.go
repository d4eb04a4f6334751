//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/registry"
)

// smallChart makes a chart with one ConfigMap, as its package, and returns the file.
func smallChart(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	write(t, filepath.Join(folder, "Chart.yaml"), "apiVersion: v2\nname: "+name+"\nversion: 1.0.0\n")
	write(t, filepath.Join(folder, "templates", "text.yaml"), configMap(name, "{{ .Values.text }}"))
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	file, err := chartutil.Save(loaded, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// helmRepository serves a repository with the chart, to clients with the login. It returns its address.
func helmRepository(t *testing.T, l login, name string) string {
	t.Helper()
	file := smallChart(t, name)
	folder := filepath.Dir(file)
	write(t, filepath.Join(folder, "index.yaml"), "apiVersion: v1\nentries:\n  "+name+":\n"+
		"  - {apiVersion: v2, name: "+name+", version: 1.0.0, urls: ["+filepath.Base(file)+"]}\n")
	return "http://" + serve(t, newDoor(l), http.FileServer(http.Dir(folder)))
}

// chartRegistry serves a registry with the chart, to clients with the login. It returns the address of its parent.
func chartRegistry(t *testing.T, l login, name string) string {
	t.Helper()
	address := registryServer(t, newDoor(l)) + "/charts"
	c, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptBasicAuth(l.user, l.password))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(smallChart(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Push(content, address+"/"+name+":1.0.0"); err != nil {
		t.Fatal(err)
	}
	return "oci://" + address
}

// charted is a component that is a chart of a repository or a registry.
func charted(name, url string, l login) map[string]any {
	return map[string]any{"enabled": "management-only", "namespaces": []string{"flux-system"},
		"chart": map[string]any{"url": url, "name": name, "version": "1.0.0", "allow_http": true,
			"auth": map[string]any{"username": l.user, "password": l.password}, "values": map[string]any{"text": "first"}}}
}
