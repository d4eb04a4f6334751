package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/types"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

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

// A bundle does not contain the image of --node-image: the engine would have to pull it.
func TestANodeImageOutsideOfTheBundleIsChecked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/served/"):
			w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
			w.Header().Set("Content-Length", "2")
			w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64))
		case r.URL.Path != "/v2/":
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	engine := func(t *testing.T, body string) *docker.Client {
		path := filepath.Join(t.TempDir(), "docker")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return &docker.Client{Binary: path}
	}
	const lacksImage, hasImage = "echo 'Error: No such image: x' >&2; exit 1", `echo '[{"Id":"sha256:1"}]'`
	b := &bundle.Bundle{Index: bundle.Index{NodeImage: host + "/bundled:v1", Images: []bundle.Image{
		{Reference: host + "/bundled:v1", Load: bundle.LoadDocker}}}}
	const fromBundle = "all images come from the bundle"
	for name, tc := range map[string]struct {
		engine, node, bootstrap string
		seen                    []string
		problem                 string
	}{
		"the bundle's":        {lacksImage, "", "", []string{fromBundle}, ""},
		"the bundle's, named": {lacksImage, host + "/bundled:v1", "", []string{fromBundle}, ""},
		"the engine's":        {hasImage, host + "/missing:v1", "", []string{fromBundle}, ""},
		"of no use":           {lacksImage, host + "/missing:v1", "kubeconfig", []string{fromBundle}, ""},
		"served": {lacksImage, host + "/served/x:v1", "", []string{"all images but the node image " + host +
			"/served/x:v1 come from the bundle", "1 of 1 images are served"}, ""},
		"missing": {lacksImage, host + "/missing:v1", "", []string{"all images but the node image " + host +
			"/missing:v1 come from the bundle", "0 of 1 images are served"}, host + "/missing:v1"},
		"missing, and no engine answers": {"exit 1", host + "/missing:v1", "", []string{"all images but the node " +
			"image " + host + "/missing:v1 come from the bundle", "0 of 1 images are served"}, host + "/missing:v1"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &checkOptions{}
			o.bundle, o.bootstrapKubeconfig = "bundle", tc.bootstrap
			found := o.checkImages(t.Context(), nil, engine(t, tc.engine),
				bootstrap.Supplies{Bundle: b, NodeImage: tc.node})
			if !slices.Equal(found.Seen, tc.seen) || (len(found.Problems) > 0) != (tc.problem != "") ||
				tc.problem != "" && !strings.Contains(found.Problems[0].Error(), tc.problem) {
				t.Errorf("got %q and %v", found.Seen, found.Problems)
			}
		})
	}
}
