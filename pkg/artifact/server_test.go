package artifact

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sirupsen/logrus"
)

// testRegistry is a real registry server that counts the requests which change something.
type testRegistry struct {
	host   string
	writes atomic.Int64
}

func startRegistry(t *testing.T) *testRegistry {
	t.Helper()
	logrus.SetLevel(logrus.ErrorLevel)
	config := &configuration.Configuration{Storage: configuration.Storage{
		"filesystem": configuration.Parameters{"rootdirectory": t.TempDir()},
	}}
	ctx, cancel := context.WithCancel(context.Background())
	app := handlers.NewApp(ctx, config)
	r := &testRegistry{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			r.writes.Add(1)
		}
		app.ServeHTTP(w, req)
	}))
	r.host = strings.TrimPrefix(server.URL, "http://")
	t.Cleanup(func() {
		server.Close()
		_ = app.Shutdown()
		cancel()
	})
	return r
}

// target is the registry without any of the machine's credentials.
func (r *testRegistry) target() Target {
	return Target{Prefix: r.host, Insecure: true, Options: []remote.Option{remote.WithAuth(authn.Anonymous)}}
}

// testContent is a small but whole content tree.
func testContent() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"kustomize-components/a/kustomization.yaml": file("resources:\n- https://example.org/v1/a.yaml\n"),
		"kustomize-components/b/kustomization.yaml": file("resources:\n- local.yaml\n"),
		"kustomize-components/b/local.yaml":         file("kind: ConfigMap\n"),
		"charts/telco-cloud-init/Chart.yaml":        file("apiVersion: v2\nname: telco-cloud-init\nversion: 1.2.3+build\n"),
		"charts/telco-cloud-init/values.yaml":       file("phase: bootstrap\n"),
		"charts/telco-cloud-init/.helmignore":       file("*.md\n"),
		"charts/telco-cloud-init/NOTES.md":          file("not for the package\n"),
		"charts/telco-cloud-init/templates/x.yaml":  file("kind: ConfigMap\n"),
	}
}

// remoteFiles is a Fetcher and a ManifestSource of known files.
type remoteFiles map[string]string

func (f remoteFiles) Fetch(ctx context.Context, url string) ([]byte, error) {
	return FromBundle(f).Fetch(ctx, url)
}

func (f remoteFiles) Manifest(url string) ([]byte, bool, error) {
	data, found := f[url]
	return []byte(data), found, nil
}
