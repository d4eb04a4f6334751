package oci_test

import (
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

	"github.com/cluster-init/cluster-init/pkg/oci"
)

// logins are credentials by host.
type logins map[string]authn.AuthConfig

// Resolve returns those of a host.
func (l logins) Resolve(of authn.Resource) (authn.Authenticator, error) {
	login, known := l[of.RegistryStr()]
	if !known {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(login), nil
}

// ServedAll uses the credentials of each image's host. It lists missing images, and those that it cannot check.
func TestServedAll(t *testing.T) {
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
	keys := authn.NewMultiKeychain(logins{host: {Username: "me", Password: "pass"}})
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
	missing, notChecked := oci.ServedAll(t.Context(),
		[]string{host + "/a:v1", host + "/b:v1", "cached.example/c:v1"}, mirrors, "", keys)
	if len(missing) != 1 || !strings.Contains(missing[0].Error(), "image "+host+"/b:v1") || len(notChecked) != 1 ||
		notChecked[0] != "cached.example/c:v1" {
		t.Errorf("missing %v, notChecked %v", missing, notChecked)
	}
	if missing, _ := oci.ServedAll(t.Context(), []string{host + "/a:v1"}, nil, "",
		authn.NewMultiKeychain(logins{})); len(missing) != 1 || strings.Contains(missing[0].Error(), "pass") {
		t.Errorf("without credentials: %v", missing)
	}
}
