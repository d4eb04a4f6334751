package offline

import (
	"context"
	"path/filepath"

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
	openstackHub   = "https://github.com/kubernetes-sigs/cluster-api-provider-openstack"
	orcHub         = "https://github.com/k-orc/openstack-resource-controller"
)

func coreProviders() []provider {
	return []provider{
		{"cluster-api", clusterAPI, "core/config", clusterAPIHome + "cluster-api-controller", clusterAPIHub,
			"core-components.yaml"},
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
		{"cluster-api-docker", clusterAPI + "/test", "infrastructure/docker/config",
			"gcr.io/k8s-staging-cluster-api/capd-manager",
			clusterAPIHub, "infrastructure-components-development.yaml"},
	}
}

// awsProviders returns CAPA, which is part of no bundle: only tests install it.
func awsProviders() []provider {
	return []provider{
		{plan.CAPAModule, plan.CAPAPath, "config", "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller",
			"https://github.com/kubernetes-sigs/cluster-api-provider-aws", "infrastructure-components.yaml"},
	}
}

func rke2Providers() []provider {
	return []provider{
		{plan.RKE2Module, plan.RKE2Path, "bootstrap/config", plan.RKE2BootstrapImage, rke2Hub,
			"bootstrap-components.yaml"},
		{plan.RKE2Module, plan.RKE2Path, "controlplane/config", plan.RKE2ControlPlaneImage, rke2Hub,
			"control-plane-components.yaml"},
	}
}

func openstackProviders() []provider {
	return []provider{
		{plan.CAPOModule, plan.CAPOPath, "config", plan.CAPOImage, openstackHub, "infrastructure-components.yaml"},
	}
}

// orc renders the OpenStack Resource Controller's release.
func (b *builder) orc(ctx context.Context) (rendered, error) {
	source, err := golang.Source(ctx, b.moduleDir(plan.ORCModule), plan.ORCPath)
	if err != nil {
		return rendered{}, err
	}
	version := b.modules[plan.ORCModule].Pin.Version
	made, err := manifest.ORC(filepath.Join(source, "config"), plan.ORCImage+":"+version, orcHub+"/releases/download/"+
		version+"/install.yaml")
	return rendered{made, plan.ORCPath, version}, err
}

// url is where others fetch the provider's manifest.
func (b *builder) url(each provider) string {
	return each.project + "/releases/download/" + b.modules[each.module].Pin.Version + "/" + each.file
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
		made, err := manifest.ClusterAPI(filepath.Join(source, filepath.FromSlash(each.config)), each.image+":"+version,
			b.url(each))
		if err != nil {
			return nil, err
		}
		all = append(all, rendered{made, each.path, version})
	}
	return all, nil
}
