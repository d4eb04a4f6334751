package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// A registry has the components of the environment's folder as they were published: a later change there is not read.
func TestComponentsOfARegistryAreAWarning(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	registry := distribution.Start(t)
	image, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"content", "charts/telco-cloud-init"} {
		tag, err := name.NewTag(registry.Host+"/cluster-init/"+path+":v1", name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(tag, image); err != nil {
			t.Fatal(err)
		}
	}
	site := filepath.Join(t.TempDir(), "site")
	for file, text := range map[string]string{"environment.yaml": "from: kubeadm-capd\n",
		"values.yaml":                         "components: {shop: {enabled: true, path: ./kustomize-components/shop}}\n",
		"components/shop/kustomization.yaml":  "resources: []\n",
		"components/other/kustomization.yaml": "resources: []\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(site, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, flags := &buildOptions{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	o.flags(flags, Streams{}, up.PhaseNames())
	if err := flags.Parse([]string{"--source", "oci", "--source-url", "oci://" + registry.Host, "--source-insecure",
		"--source-content-tag", "v1", "--source-chart-tag", "v1"}); err != nil {
		t.Fatal(err)
	}
	b, err := o.resolve(t.Context(), site, event.Tee{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(site, "components") + " (shop) is not read"
	if got := b.supplies.Source.Warnings(); len(got) != 2 || !strings.HasPrefix(got[0], want) {
		t.Errorf("the warnings are %q, want one that begins with %q", got, want)
	}
}
