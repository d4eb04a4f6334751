package cli

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// Each image is asked for with the credentials of its host. What is missing, and what cannot be asked for, are listed
// separately.
func TestServed(t *testing.T) {
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "pass" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	keys := authn.NewMultiKeychain(registryKeys{host: {Username: "me", Password: "pass"}})
	ref, err := name.NewTag(host+"/a:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(10, 1)
	if err == nil {
		err = remote.Write(ref, image, remote.WithAuthFromKeychain(keys))
	}
	if err != nil {
		t.Fatal(err)
	}
	mirrors := []oci.Mirror{{Host: "cached.example", URL: "http://" + host + "/cache", Only: true}}
	missing, notChecked := served(context.Background(), []string{host + "/a:v1", host + "/b:v1", "cached.example/c:v1"},
		mirrors, "", keys)
	if len(missing) != 1 || !strings.Contains(missing[0].Error(), "image "+host+"/b:v1") || len(notChecked) != 1 ||
		notChecked[0] != "cached.example/c:v1" {
		t.Errorf("missing %v, notChecked %v", missing, notChecked)
	}
	if missing, _ := served(context.Background(), []string{host + "/a:v1"}, nil, "",
		authn.NewMultiKeychain(registryKeys{})); len(missing) != 1 || strings.Contains(missing[0].Error(), "pass") {
		t.Errorf("without credentials: %v", missing)
	}
}

// Registries are asked with the logins that the clusters get: those of registry_secret, and the default one of Git for
// hosts that are named.
func TestKeysOf(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{
			"registry_secret.own\\.example\\.org.username=me", "registry_secret.own\\.example\\.org.password=pass",
			"git_auth_default.password=token", "git_auth_default.registry_hosts={registry.example.org}",
		}})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keysOf(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for host, want := range map[string]authn.AuthConfig{
		"own.example.org": {Username: "me", Password: "pass"}, "registry.example.org": {Username: "git",
			Password: "token"}, "other.example.org": {},
	} {
		registry, err := name.NewRegistry(host)
		if err != nil {
			t.Fatal(err)
		}
		login, err := keys.Resolve(registry)
		if err != nil {
			t.Fatal(err)
		}
		config, err := login.Authorization()
		if err != nil || config.Username != want.Username || config.Password != want.Password {
			t.Errorf("%s: %s with %q (%v), want %s", host, config.Username, config.Password, err, want.Username)
		}
	}
}
