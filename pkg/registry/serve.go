// Package registry is the environment's own OCI registry: its server (which runs in a container made from this binary),
// the tunnel through which only cluster-init writes to it, and the container itself.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem" // the storage driver named in config()
	"github.com/sirupsen/logrus"
)

// Options says where the server keeps its data and where it listens.
type Options struct {
	Root   string // folder of the stored content
	Addr   string // TCP address that serves reads to the network
	Socket string // path of the unix socket that also takes writes; only processes in the container reach it
}

// DefaultOptions are the places inside the registry container.
func DefaultOptions() Options {
	return Options{Root: dataDir, Addr: fmt.Sprintf(":%d", Port), Socket: socketPath}
}

const (
	// Port is the TCP port of the registry in the docker network.
	Port = 5000

	dataDir    = "/var/lib/registry"
	socketDir  = "/run/cluster-init"
	socketPath = socketDir + "/registry.sock"

	drainTime = 5 * time.Second
)

// Serve runs the registry until ctx ends, then gives open requests a few seconds to finish. It returns nil if ctx ended
// it.
func Serve(ctx context.Context, o Options) error {
	logrus.SetLevel(logrus.WarnLevel) // the library logs every request; Serve has its own process
	readers, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return fmt.Errorf("registry: listen for readers: %w", err)
	}
	defer readers.Close()
	writers, err := listenUnix(o.Socket)
	if err != nil {
		return fmt.Errorf("registry: listen for the tunnel: %w", err)
	}
	defer writers.Close()
	return serve(ctx, o.Root, readers, writers)
}

// serve is Serve on listeners that are open already.
func serve(ctx context.Context, root string, readers, writers net.Listener) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("registry: storage: %w", err)
	}
	app := handlers.NewApp(ctx, config(root))
	defer func() { _ = app.Shutdown() }()

	servers := map[*http.Server]net.Listener{
		{Handler: readOnly(app), ReadHeaderTimeout: time.Minute}: readers,
		{Handler: app, ReadHeaderTimeout: time.Minute}:           writers,
	}
	failed := make(chan error, len(servers))
	for server, listener := range servers {
		go func() { failed <- server.Serve(listener) }()
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	for server := range servers {
		_ = server.Shutdown(drain)
	}
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("registry: %w", err)
}

// config is the library's configuration: files below root, relative locations (the tunnel has no host name), and
// indexes with platforms that were not pushed (a bundle contains only what its machines run).
func config(root string) *configuration.Configuration {
	c := &configuration.Configuration{
		Version: configuration.CurrentVersion,
		Storage: configuration.Storage{
			"filesystem": configuration.Parameters{"rootdirectory": root},
			"cache":      configuration.Parameters{"blobdescriptor": "inmemory"},
		},
	}
	c.HTTP.RelativeURLs = true
	c.Validation.Disabled = true
	c.Catalog.MaxEntries = 1000
	return c
}

// readOnly refuses every request that could write.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this registry is read-only from the network", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// listenUnix listens on a socket that only its owner may use. It replaces one left behind by a killed server.
func listenUnix(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}
