package offline

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// provider is one of Cluster API's providers: its build module and module, where its config folder is, its image, and
// its file among the project's releases.
type provider struct{ module, path, config, image, project, file string }

const (
	clusterAPI     = "sigs.k8s.io/cluster-api"
	clusterAPIHub  = "https://github.com/kubernetes-sigs/cluster-api"
	clusterAPIHome = "registry.k8s.io/cluster-api/"
	rke2Hub        = "https://github.com/rancher/cluster-api-provider-rke2"
)

func coreProviders() []provider {
	return []provider{
		{"cluster-api", clusterAPI, "core/config", clusterAPIHome + "cluster-api-controller", clusterAPIHub, "core-components.yaml"},
	}
}

func kubeadmProviders() []provider {
	return []provider{
		{"cluster-api", clusterAPI, "bootstrap/kubeadm/config", clusterAPIHome + "kubeadm-bootstrap-controller",
			clusterAPIHub, "bootstrap-components.yaml"},
		{"cluster-api", clusterAPI, "controlplane/kubeadm/config", clusterAPIHome + "kubeadm-control-plane-controller",
			clusterAPIHub, "control-plane-components.yaml"},
	}
}

// dockerProviders returns CAPD. Its file is one of the release's "development" files.
func dockerProviders() []provider {
	return []provider{
		{"cluster-api-docker", clusterAPI + "/test", "infrastructure/docker/config", "gcr.io/k8s-staging-cluster-api/capd-manager",
			clusterAPIHub, "infrastructure-components-development.yaml"},
	}
}

func rke2Providers() []provider {
	return []provider{
		{plan.RKE2Module, plan.RKE2Path, "bootstrap/config", plan.RKE2BootstrapImage, rke2Hub, "bootstrap-components.yaml"},
		{plan.RKE2Module, plan.RKE2Path, "controlplane/config", plan.RKE2ControlPlaneImage, rke2Hub, "control-plane-components.yaml"},
	}
}

// url is where others fetch the provider's manifest.
func (b *builder) url(each provider) string {
	return each.project + "/releases/download/" + b.modules[each.module].Pin.Version + "/" + each.file
}

// isOf tells whether the URL is that of one of the providers.
func (b *builder) isOf(providers []provider, url string) bool {
	return slices.ContainsFunc(providers, func(each provider) bool { return b.url(each) == url })
}

// renderProviders renders the manifests of providers.
func (b *builder) renderProviders(ctx context.Context, providers []provider) ([]rendered, error) {
	var all []rendered
	for _, each := range providers {
		source, err := golang.Source(ctx, b.moduleDir(each.module), each.path)
		if err != nil {
			return nil, err
		}
		version := b.modules[each.module].Pin.Version
		made, err := manifest.ClusterAPI(filepath.Join(source, filepath.FromSlash(each.config)), each.image+":"+version, b.url(each))
		if err != nil {
			return nil, err
		}
		all = append(all, rendered{made, each.path, version})
	}
	return all, nil
}
