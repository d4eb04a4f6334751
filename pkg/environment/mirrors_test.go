package environment_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

func TestMirrorsAreJoinedByRegistry(t *testing.T) {
	const site = "{host: ghcr.io, url: https://site/ghcr}, {host: quay.io, url: https://site/quay, skip_verify: true}"
	own := folder(t, map[string]string{"kustomization.yaml": secretsOf, "secrets.yaml": "{}", "infra.yaml": "{}",
		"values.yaml": "components: {capd: {enabled: true}, cluster: {enabled: true}}\ncluster: {registry_mirrors: [" +
			site + "]}\n"})
	file := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(file, []byte("cluster: {registry_mirrors: [{host: ghcr.io, url: https://mine, only: "+
		"true}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []environment.RegistryMirror{{Host: "_default", URL: "http://b/_default"},
		{Host: "ghcr.io", URL: "http://b/ghcr"}}
	quay := environment.RegistryMirror{Host: "quay.io", URL: "https://site/quay", SkipVerify: true}
	for name, test := range map[string]struct {
		options environment.Options
		flags   []environment.RegistryMirror
		only    bool
		want    []environment.RegistryMirror
	}{
		"no flags change nothing": {environment.Options{Name: own}, nil, true,
			[]environment.RegistryMirror{{Host: "ghcr.io", URL: "https://site/ghcr"}, quay}},
		"flags over the environment's files": {environment.Options{Name: own}, flags, false,
			[]environment.RegistryMirror{flags[0], flags[1], quay}},
		"values files over flags, and no original registry is asked": {environment.Options{Name: own,
			ValuesFiles: []string{file}}, flags, false,
			[]environment.RegistryMirror{{Host: "ghcr.io", URL: "https://mine", Only: true},
				{Host: "_default", URL: "http://b/_default", Only: true}}},
		"with a bundle": {environment.Options{Name: "kubeadm-capd"}, flags, true,
			[]environment.RegistryMirror{{Host: "_default", URL: "http://b/_default", Only: true},
				{Host: "ghcr.io", URL: "http://b/ghcr", Only: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := load(t, test.options).WithRegistryMirrors(test.flags, test.only)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, env.Spec().Cluster.RegistryMirrors); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
