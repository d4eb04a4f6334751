// Package distribution is a real registry server. Only tests import it.
package distribution

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem" // Start configures it
	"github.com/sirupsen/logrus"
)

// Registry is a server that runs until the test ends, and counts the requests which change something.
type Registry struct {
	Host   string // host:port, of plain HTTP
	Writes atomic.Int64
}

// Start starts an empty one.
func Start(t *testing.T) *Registry {
	t.Helper()
	logrus.SetLevel(logrus.ErrorLevel)
	config := &configuration.Configuration{Storage: configuration.Storage{
		"filesystem": configuration.Parameters{"rootdirectory": t.TempDir()},
	}}
	ctx, cancel := context.WithCancel(context.Background())
	app := handlers.NewApp(ctx, config)
	r := &Registry{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			r.Writes.Add(1)
		}
		app.ServeHTTP(w, req)
	}))
	r.Host = strings.TrimPrefix(server.URL, "http://")
	t.Cleanup(func() {
		server.Close()
		_ = app.Shutdown()
		cancel()
	})
	return r
}
