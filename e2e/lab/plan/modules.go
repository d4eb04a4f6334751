// Package plan says what the lab builds: data only. Versions are not here but in the go.mod files of e2e/lab/modules.
package plan

import "github.com/cluster-init/cluster-init/e2e/lab/golang"

const (
	kubernetesCmd = "k8s.io/kubernetes/cmd/"
	containerdCmd = "github.com/containerd/containerd/v2/cmd/"
	cniPlugin     = "github.com/containernetworking/plugins/plugins/"
	clusterAPI    = "sigs.k8s.io/cluster-api"
	flux          = "github.com/fluxcd/"
)

// cert-manager: its build module, its own module, and the images that have its programs.
const (
	CertManagerModule = "cert-manager"
	CertManagerPath   = "github.com/cert-manager/cert-manager"
	certManagerImage  = "quay.io/jetstack/cert-manager-"
)

// Cluster API's provider for RKE2: its build module, its own module and its images.
const (
	RKE2Module            = "cluster-api-provider-rke2"
	RKE2Path              = "github.com/rancher/cluster-api-provider-rke2"
	RKE2BootstrapImage    = "ghcr.io/rancher/cluster-api-provider-rke2-bootstrap"
	RKE2ControlPlaneImage = "ghcr.io/rancher/cluster-api-provider-rke2-controlplane"
)

// Cluster API's provider for OpenStack, the OpenStack Resource Controller, and the controllers inside of a cluster:
// their build modules, their own modules and their images.
const (
	CAPOModule      = "cluster-api-provider-openstack"
	CAPOPath        = clusterAPI + "-provider-openstack"
	CAPOImage       = "registry.k8s.io/capi-openstack/capi-openstack-controller"
	ORCModule       = "openstack-resource-controller"
	ORCPath         = "github.com/k-orc/openstack-resource-controller/v2"
	ORCImage        = "quay.io/orc/openstack-resource-controller"
	CPOModule       = "cloud-provider-openstack"
	CPOPath         = "k8s.io/cloud-provider-openstack"
	CloudImage      = "registry.k8s.io/provider-os/openstack-cloud-controller-manager"
	CinderImage     = "registry.k8s.io/provider-os/cinder-csi-plugin"
	cloudController = "openstack-cloud-controller-manager"
)

// Kubernetes builds the binaries of a cluster and of the integration tests.
func Kubernetes() golang.Module {
	module := golang.Module{
		Name: "kubernetes", Path: "k8s.io/kubernetes",
		Stamps: []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"},
	}
	for _, name := range []string{
		"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubeadm", "kubectl",
	} {
		module.Binaries = append(module.Binaries, golang.Binary{Package: kubernetesCmd + name, Name: name})
	}
	return module
}

// Kubelet builds the kubelet of a distribution, which adds release to the version: nodes tell it to Cluster API, which
// holds it against that of their machine.
func Kubelet(release string) golang.Module {
	module := Kubernetes()
	module.Release, module.Binaries = release, []golang.Binary{{Package: kubernetesCmd + "kubelet", Name: "kubelet"}}
	return module
}

// RKE2Revision is what RKE2's versions have behind those of Kubernetes.
const RKE2Revision = "+rke2r1"

// Etcd builds etcd.
func Etcd() golang.Module {
	return golang.Module{Name: "etcd", Path: "go.etcd.io/etcd/server/v3", Binaries: []golang.Binary{
		{Package: "go.etcd.io/etcd/server/v3", Name: "etcd"},
	}}
}

// EtcdImage builds etcd, and what its image has besides it.
func EtcdImage() golang.Module {
	module := Etcd()
	module.Apart = "etcdctl does not compile with the tablewriter of the others"
	for _, name := range []string{"etcdctl", "etcdutl"} {
		module.Binaries = append(module.Binaries, golang.Binary{Package: "go.etcd.io/etcd/" + name + "/v3", Name: name})
	}
	return module
}

// fluxModule is the module of one of Flux's controllers.
func fluxModule(name string) golang.Module {
	return golang.Module{Name: name, Path: flux + name, Binaries: []golang.Binary{{Package: flux + name, Name: name}}}
}

// TestServers are the API server and its etcd, and no more: on a machine that has built nothing yet, the rest of
// Kubernetes would take minutes.
func TestServers() []golang.Module {
	apiserver := Kubernetes()
	apiserver.Binaries = []golang.Binary{{Package: kubernetesCmd + "kube-apiserver", Name: "kube-apiserver"}}
	return []golang.Module{apiserver, Etcd()}
}

// TestController is the controller of Flux that the integration tests start.
func TestController() golang.Module { return fluxModule("kustomize-controller") }

// nodeModules are the other modules of the node image.
func nodeModules() []golang.Module {
	return []golang.Module{
		{Name: "containerd", Path: "github.com/containerd/containerd/v2", Binaries: []golang.Binary{
			{Package: containerdCmd + "containerd", Name: "containerd"},
			{Package: containerdCmd + "containerd-shim-runc-v2", Name: "containerd-shim-runc-v2"},
			{Package: containerdCmd + "ctr", Name: "ctr"},
		}},
		{Name: "cri-tools", Path: "sigs.k8s.io/cri-tools", Binaries: []golang.Binary{
			{Package: "sigs.k8s.io/cri-tools/cmd/crictl", Name: "crictl"},
		}},
		{Name: "cni-plugins", Path: "github.com/containernetworking/plugins", Binaries: []golang.Binary{
			{Package: cniPlugin + "ipam/host-local", Name: "host-local"},
			{Package: cniPlugin + "main/loopback", Name: "loopback"},
			{Package: cniPlugin + "main/ptp", Name: "ptp"},
			{Package: cniPlugin + "meta/portmap", Name: "portmap"},
		}},
		{Name: "coredns", Path: "github.com/coredns/coredns", Binaries: []golang.Binary{
			{Package: ".", Name: "coredns"},
		}},
		{Name: "lab-cni", Binaries: []golang.Binary{{Package: ".", Name: "lab-cni"}}},
	}
}

// providerModules are the modules of what runs in the management clusters of the environments.
func providerModules(environments []string) []golang.Module {
	modules := []golang.Module{
		// The programs are the module's own, as those of upstream are in modules that nothing can require.
		{Name: CertManagerModule, Path: CertManagerPath, Binaries: []golang.Binary{
			{Package: "./controller", Name: "controller"},
			{Package: "./webhook", Name: "webhook"},
			{Package: "./cainjector", Name: "cainjector"},
		}},
		// Without the tag fieldsv1string of upstream's Dockerfile, which saves some memory at run time: with it, all
		// that stands on k8s.io/apimachinery would be compiled a second time.
		{Name: "cluster-api", Path: clusterAPI, Binaries: []golang.Binary{
			{Package: clusterAPI + "/core", Name: "core"},
			{Package: clusterAPI + "/bootstrap/kubeadm", Name: "bootstrap-kubeadm"},
			{Package: clusterAPI + "/controlplane/kubeadm", Name: "controlplane-kubeadm"},
		}},
	}
	if Uses(environments, Docker) {
		modules = append(modules, golang.Module{Name: "cluster-api-docker", Path: clusterAPI + "/test",
			Binaries: []golang.Binary{
				{Package: clusterAPI + "/test/infrastructure/docker", Name: "capd"},
			}})
	}
	if Uses(environments, OpenStack) {
		modules = append(modules, openstackModules()...)
	}
	if Uses(environments, RKE2) {
		modules = append(modules, golang.Module{
			Name: RKE2Module, Path: RKE2Path,
			Apart: "v0.21.0 uses packages of Cluster API v1.10 that v1.14 no longer has, and with them " +
				"controller-runtime v0.20 and Kubernetes v0.32",
			Stamps: []string{RKE2Path + "/version"},
			Binaries: []golang.Binary{
				{Package: RKE2Path + "/bootstrap", Name: "bootstrap-rke2"},
				{Package: RKE2Path + "/controlplane", Name: "controlplane-rke2"},
			},
		})
	}
	for _, name := range FluxControllers() {
		modules = append(modules, fluxModule(name))
	}
	return modules
}

// openstackModules are the modules of what runs in the management clusters on OpenStack.
func openstackModules() []golang.Module {
	return []golang.Module{
		{
			Name: CAPOModule, Path: CAPOPath, Stamps: []string{CAPOPath + "/version"},
			Binaries: []golang.Binary{{Package: CAPOPath, Name: "capo"}},
			Apart: "v0.14.7 registers its webhooks in a way that controller-runtime v0.23 no longer has, and v0.22 " +
				"does not compile with Kubernetes v0.36",
		},
		{Name: ORCModule, Path: ORCPath, Stamps: []string{ORCPath + "/internal/version"},
			Binaries: []golang.Binary{{Package: ORCPath + "/cmd/manager", Name: "orc"}}},
		{Name: CPOModule, Path: CPOPath, Stamps: []string{"k8s.io/component-base/version"}, Binaries: []golang.Binary{
			{Package: CPOPath + "/cmd/" + cloudController, Name: cloudController},
		}},
	}
}

// FluxControllers are the Flux controllers that cluster-init installs.
func FluxControllers() []string {
	return []string{"source-controller", "kustomize-controller", "helm-controller"}
}

// Modules returns all modules of the environments, in the order in which they are built: the longest first.
func Modules(environments []string) []golang.Module {
	modules := append([]golang.Module{Kubernetes(), EtcdImage()}, nodeModules()...)
	return append(modules, providerModules(environments)...)
}
