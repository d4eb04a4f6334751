package environment_test

import (
	"slices"
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
