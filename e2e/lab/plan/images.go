package plan

// Image is an image of one binary.
type Image struct {
	Reference string // with {version} for the version of the module
	Module    string // name of the build module
	Files     []File // binaries in the image; the entrypoint is the first one
	User      string // as the upstream image has it; root when empty
	Env       []string
	Debian    []string // Debian packages that the binaries need, in the one root file system; none: scratch
}

// File is one binary in an image.
type File struct{ Binary, Path string }

// ProviderImages are the images that the clusters of the environments pull, under the references of upstream's release
// manifests.
func ProviderImages(environments []string) []Image {
	images := []Image{manager("registry.k8s.io/cluster-api/cluster-api-controller", "cluster-api", "core", "65532")}
	if Uses(environments, Kubeadm) {
		images = append(images,
			manager("registry.k8s.io/cluster-api/kubeadm-bootstrap-controller", "cluster-api", "bootstrap-kubeadm",
				"65532"),
			manager("registry.k8s.io/cluster-api/kubeadm-control-plane-controller", "cluster-api",
				"controlplane-kubeadm", "65532"))
	}
	if Uses(environments, RKE2) {
		images = append(images,
			manager(RKE2BootstrapImage, RKE2Module, "bootstrap-rke2", "65532"),
			manager(RKE2ControlPlaneImage, RKE2Module, "controlplane-rke2", "65532"))
	}
	if Uses(environments, Docker) {
		// Root, as it talks to the Docker engine through its socket. Upstream releases it in the staging registry.
		images = append(images, manager("gcr.io/k8s-staging-cluster-api/capd-manager", "cluster-api-docker", "capd",
			""))
	}
	if Uses(environments, OpenStack) {
		images = append(images, openstackImages()...)
	}
	for _, name := range []string{"controller", "webhook", "cainjector"} {
		images = append(images, Image{
			Reference: certManagerImage + name + ":{version}", Module: CertManagerModule, User: "1000",
			Files: []File{{Binary: name, Path: "app/cmd/" + name + "/" + name}},
		})
	}
	for _, name := range FluxControllers() {
		images = append(images, Image{
			Reference: "ghcr.io/fluxcd/" + name + ":{version}", Module: name, User: "65534:65534",
			Files: []File{{Binary: name, Path: "usr/local/bin/" + name}}, Env: []string{"GNUPGHOME=/tmp"},
		})
	}
	return images
}

// Unheld are the repositories of images that a manifest names and the bundle does not hold, each with the reason why
// nothing in the clusters of the environments pulls it.
func Unheld() map[string]string {
	return map[string]string{
		certManagerImage +
			"acmesolver": "cert-manager starts it for HTTP01 challenges of ACME only, and no component " +
			"has an ACME issuer",
	}
}

// openstackImages are those of environments on OpenStack. The CSI driver is not among them: it is off by default, and
// its sidecars cannot be built from one module each.
func openstackImages() []Image {
	return []Image{
		manager(CAPOImage, CAPOModule, "capo", "65532"),
		manager(ORCImage, ORCModule, "orc", "65532"),
		{Reference: CloudImage + ":{version}", Module: CPOModule, User: "65532",
			Files: []File{{Binary: cloudController, Path: "bin/" + cloudController}}},
	}
}

// manager is an image of one of Cluster API's controllers.
func manager(repository, module, binary, user string) Image {
	return Image{
		Reference: repository + ":{version}", Module: module, User: user,
		Files: []File{{Binary: binary, Path: "manager"}},
	}
}

// NodeImages are the images inside of the node image, by the last word of the repository that kubeadm names.
func NodeImages() map[string]Image {
	images := map[string]Image{
		"etcd": {Module: "etcd", Files: []File{{Binary: "etcd", Path: "usr/local/bin/etcd"},
			{Binary: "etcdctl", Path: "usr/local/bin/etcdctl"}, {Binary: "etcdutl", Path: "usr/local/bin/etcdutl"}}},
		"coredns": {Module: "coredns", Files: []File{{Binary: "coredns", Path: "coredns"}}},
		"kube-proxy": {
			Module: "kubernetes", Files: []File{{Binary: "kube-proxy", Path: "usr/local/bin/kube-proxy"}},
			Debian: []string{"conntrack", "iptables", "kmod", "nftables"},
		},
	}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		images[name] = Image{Module: "kubernetes", Files: []File{{Binary: name, Path: "usr/local/bin/" + name}}}
	}
	return images
}

// NodeBinaries returns the place in the node image of each module's binaries.
func NodeBinaries() map[string][]File {
	places := map[string][]File{"kubernetes": {
		{Binary: "kubelet", Path: "usr/bin/kubelet"},
		{Binary: "kubeadm", Path: "usr/bin/kubeadm"},
		{Binary: "kubectl", Path: "usr/bin/kubectl"},
	}}
	for _, module := range nodeModules() {
		folder := map[string]string{"containerd": "usr/local/bin/", "cri-tools": "usr/local/bin/",
			"cni-plugins": "opt/cni/bin/"}[module.Name]
		if folder == "" {
			continue
		}
		for _, binary := range module.Binaries {
			places[module.Name] = append(places[module.Name], File{Binary: binary.Name, Path: folder + binary.Name})
		}
	}
	return places
}
