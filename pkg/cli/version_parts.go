package cli

import (
	"context"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/parts"
)

// installedParts asks each place that decides a version: kind for the bootstrap cluster's node, Flux, the environments
// for Kubernetes, and the components.
func installedParts(ctx context.Context, content fs.FS, info *debug.BuildInfo) ([]parts.Part, error) {
	found := []parts.Part{
		parts.FromImage("bootstrap cluster", kind.DefaultNodeImage),
		{Name: "flux", Version: flux.Version, Origin: "github.com/fluxcd/flux2"},
	}
	for _, controller := range flux.Controllers() {
		part := parts.FromModule("flux/"+controller, "github.com/fluxcd/"+controller+"/api", info)
		part.Origin = strings.TrimSuffix(part.Origin, "/api") // the controller is released with its API module
		found = append(found, part)
	}
	kubernetes, err := kubernetesParts(ctx, content)
	if err != nil {
		return nil, err
	}
	components, err := parts.FromContent(content)
	if err != nil {
		return nil, err
	}
	return slices.Concat(found, kubernetes, components), nil
}

// kubernetesParts returns one part for each version and distribution of Kubernetes that the environments have.
func kubernetesParts(ctx context.Context, content fs.FS) ([]parts.Part, error) {
	var found []parts.Part
	for _, name := range environment.List(content) {
		env, err := environment.Load(ctx, environment.Options{Name: name, Content: content, NamesOnly: true})
		if err != nil {
			return nil, err
		}
		part := parts.Part{Name: "kubernetes", Version: env.KubernetesVersion(),
			Origin: env.Spec().Cluster.BootstrapProvider}
		at := slices.IndexFunc(found, func(p parts.Part) bool {
			return p.Version == part.Version &&
				p.Origin == part.Origin
		})
		if at < 0 {
			at = len(found)
			found = append(found, part)
		}
		found[at].Environments = append(found[at].Environments, name)
	}
	return found, nil
}

// libraryParts returns the libraries that do the work of command-line tools in this process.
func libraryParts(info *debug.BuildInfo) []parts.Part {
	var found []parts.Part
	for _, library := range [][2]string{
		{"age", "filippo.io/age"},
		{"clusterctl", "sigs.k8s.io/cluster-api"},
		{"flux", "github.com/fluxcd/flux2/v2"},
		{"helm", "helm.sh/helm/v3"},
		{"kind", "sigs.k8s.io/kind"},
		{"kustomize", "sigs.k8s.io/kustomize/api"},
	} {
		found = append(found, parts.FromModule(library[0], library[1], info))
	}
	return found
}
