package cli

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	clusterinit "github.com/cluster-init/cluster-init"
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
