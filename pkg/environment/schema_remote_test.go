package environment_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// The chart may come from someone else's folder. Its schema fetches nothing, and reads no file of this machine.
func TestASchemaFetchesNothing(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = w.Write([]byte("true"))
	}))
	t.Cleanup(server.Close)
	for name, reference := range map[string]string{"an address": server.URL + "/s.json", "a file": "file:///etc/passwd",
		"a name": "urn:example:s"} {
		t.Run(name, func(t *testing.T) {
			content := contentWith(t, "charts/telco-cloud-init/values.schema.json", `{"$ref": "`+reference+`"}`)
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: content})
			if err == nil || !strings.Contains(err.Error(), "compile values.schema.json") {
				t.Errorf("the schema was used: %v", err)
			}
			if requests > 0 {
				t.Error("the schema made a request")
			}
		})
	}
}

// contentWith is the content of this binary with another text in a file.
func contentWith(t *testing.T, file, text string) fstest.MapFS {
	t.Helper()
	content := fstest.MapFS{file: &fstest.MapFile{Data: []byte(text)}}
	err := fs.WalkDir(clusterinit.Content(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == file {
			return err
		}
		data, err := fs.ReadFile(clusterinit.Content(), path)
		content[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}
