package environment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// A component of another repository is not part of the content: Flux reads it, cluster-init does not.
func TestComponentPathsAreThoseOfTheContent(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{
			"git_repo_templates.mine.url=https://git.example.org/mine.git",
			"components.extra.enabled=true", "components.extra.repo=mine", "components.extra.path=./deploy",
		}})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(paths, "./deploy") || !slices.Contains(paths, "./kustomize-components/capi") {
		t.Errorf("got %v", paths)
	}
}

// The environment of a management cluster says what the content has for workload clusters besides.
func TestComponentPathsForWorkloadClusters(t *testing.T) {
	const flux = "./kustomize-components/flux"
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(`components:
  shop: {enabled: workload-only, path: ./kustomize-components/shop}
  depot: {enabled: workload-only, path: ./kustomize-components/stock/depot}
  repo: {enabled: workload-only, repo: mine}
  helm: {enabled: workload-only, chart: {url: https://charts.example.org}}
  text: {enabled: workload-only, path: "./kustomize-components/{{ .Values.cni }}"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options environment.Options
		want    []string
	}{
		"a management cluster": {environment.Options{ValuesFiles: []string{file}},
			[]string{"./kustomize-components/stock/depot", flux, "./kustomize-components/shop"}},
		"with another infrastructure provider": {environment.Options{Sets: []string{
			"components.capa.enabled=management-only", "cluster.aws.credentials=Cg=="}},
			[]string{flux, "./kustomize-components/cloud-provider/capa"}},
		"without Flux":       {environment.Options{Sets: []string{"components.flux.enabled=false"}}, nil},
		"a workload cluster": {asWorkload(environment.Options{}), nil},
	} {
		env := load(t, tc.options)
		paths, err := env.ComponentPaths()
		if err != nil {
			t.Fatal(err)
		}
		if applied, err := env.AppliedPaths(); err != nil || len(applied)+len(tc.want) != len(paths) {
			t.Errorf("%s: %q are applied, of %q, %v", name, applied, paths, err)
		}
		var got []string
		for _, path := range paths {
			if path == flux || slices.Contains(tc.want, path) || strings.Contains(path, "{{") ||
				strings.HasSuffix(path, "/repo") || strings.HasSuffix(path, "/helm") {
				got = append(got, path)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
