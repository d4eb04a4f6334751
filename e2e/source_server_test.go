//go:build e2e

package e2e

import (
	"crypto/rand"
	"crypto/subtle"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem" // the storage of the registry
	"github.com/sirupsen/logrus"
)

// login is what a server of the test wants to hear.
type login struct{ user, password string }

func newLogin() login { return login{user: "platform-bot", password: "glpat-" + rand.Text()} }

// door lets those through who know the login of the moment.
type door struct{ atomic.Pointer[login] }

func newDoor(l login) *door {
	d := &door{}
	d.Store(&l)
	return d
}

func (d *door) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if want := d.Load(); subtle.ConstantTimeCompare([]byte(user+"\n"+password),
			[]byte(want.user+"\n"+want.password)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="e2e"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve serves handler behind a door, where this machine and the pods of the clusters reach it, and returns host:port.
func serve(t *testing.T, d *door, handler http.Handler) string {
	t.Helper()
	return expose(t, d.before(handler))
}

// expose serves handler where this machine and the pods of the clusters reach it: at the gateway of Docker's default
// bridge, which is there before and after the network `kind`. It returns host:port.
func expose(t *testing.T, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatalf("listening where containers can reach it: %v", err)
	}
	serveOn(t, listener, handler)
	return listener.Addr().String()
}

// serveOn serves handler until the test ends.
func serveOn(t *testing.T, listener net.Listener, handler http.Handler) {
	t.Helper()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

// gateway is the address of this machine in Docker's default bridge. The engine does not tell it always.
func gateway(t *testing.T) string {
	t.Helper()
	name := docker(t, "network", "inspect", "bridge", "--format", `{{index .Options "com.docker.network.bridge.name"}}`)
	bridge, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatalf("looking for the bridge %q: %v", name, err)
	}
	addresses, err := bridge.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	t.Fatalf("the bridge %s has no address", name)
	return ""
}

// gitServer serves the repositories below root by git's own HTTP server, for reading.
func gitServer(t *testing.T, d *door, root string) string {
	t.Helper()
	return serve(t, d, &cgi.Handler{
		Path:   filepath.Join(git(t, root, "--exec-path"), "git-http-backend"),
		Env:    append(gitEnvironment(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard, // it says it there too when a repository does not exist
	})
}

// registryServer serves an empty registry that takes writes: what a user would have.
func registryServer(t *testing.T, d *door) string {
	t.Helper()
	return serve(t, d, distribution(t))
}

// distribution is an empty registry that takes writes.
func distribution(t *testing.T) http.Handler {
	t.Helper()
	logrus.SetLevel(logrus.PanicLevel) // it calls it an error when a client asks for what is not there yet
	config := &configuration.Configuration{
		Version: configuration.CurrentVersion,
		Storage: configuration.Storage{"filesystem": configuration.Parameters{"rootdirectory": t.TempDir()}},
	}
	config.HTTP.RelativeURLs = true
	config.HTTP.Secret = rand.Text()
	app := handlers.NewApp(t.Context(), config)
	t.Cleanup(func() { _ = app.Shutdown() })
	return app
}
