package plan

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	fluxinstall "github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// documented are the parts that docs/reference/versions.md has a row for, each with the names by which the repository
// pins it: a Go module, a GitHub repository, an image without its registry, or a version of Kubernetes in values.
var documented = map[string][]string{
	"Kubernetes":                {"k8s.io/kubernetes", "k8s.io/client-go", "kubernetes_version"},
	"node image `kindest/node`": {"kindest/node", "node_image_digests"},
	"Cluster API, with the kubeadm and Docker providers": {clusterAPI, clusterAPI + "/test",
		"kubernetes-sigs/cluster-api"},
	"cert-manager":         {CertManagerPath, "cert-manager/cert-manager"},
	"Flux":                 {"github.com/fluxcd/flux2/v2", "fluxcd/flux2"},
	"source-controller":    {flux + "source-controller", flux + "source-controller/api"},
	"kustomize-controller": {flux + "kustomize-controller", flux + "kustomize-controller/api"},
	"helm-controller":      {flux + "helm-controller", flux + "helm-controller/api"},
	"Calico":               {"projectcalico/calico"},
	"RKE2":                 {"kubernetes_version of RKE2"},
	"Cluster API provider for RKE2 (CAPRKE2)":   {RKE2Path, "rancher/cluster-api-provider-rke2"},
	"Cluster API provider for OpenStack (CAPO)": {CAPOPath, "kubernetes-sigs/cluster-api-provider-openstack"},
	"OpenStack Resource Controller (ORC)":       {ORCPath, "k-orc/openstack-resource-controller"},
	"cloud controller manager of OpenStack":     {CPOPath, "provider-os/openstack-cloud-controller-manager"},
	"Cinder CSI driver":                         {"provider-os/cinder-csi-plugin"},
	"csi-provisioner":                           {"sig-storage/csi-provisioner"},
	"csi-attacher":                              {"sig-storage/csi-attacher"},
	"csi-resizer":                               {"sig-storage/csi-resizer"},
	"csi-node-driver-registrar":                 {"sig-storage/csi-node-driver-registrar"},
	"Cluster API provider for AWS (CAPA)": {clusterAPI + "-provider-aws/v2",
		"kubernetes-sigs/cluster-api-provider-aws"},
	"cloud controller manager of AWS": {"kubernetes/cloud-provider-aws",
		"provider-aws/cloud-controller-manager"},
	"Cluster API provider for vSphere (CAPV)": {"kubernetes-sigs/cluster-api-provider-vsphere"},
	"Cluster API provider for Metal3 (CAPM3)": {"metal3-io/cluster-api-provider-metal3"},
	"IP address manager of Metal3":            {"metal3-io/ip-address-manager"},
	"MetalLB":                                 {"metallb/metallb"},
	"kind":                                    {"sigs.k8s.io/kind"},
	"Helm":                                    {"helm.sh/helm/v3"},
	"distribution, the registry":              {"github.com/distribution/distribution/v3"},
	"etcd":                                    {"go.etcd.io/etcd/server/v3"},
	"containerd":                              {"github.com/containerd/containerd/v2"},
	"cri-tools":                               {"sigs.k8s.io/cri-tools"},
	"CNI plugins":                             {"github.com/containernetworking/plugins"},
	"CoreDNS":                                 {"github.com/coredns/coredns"},
}

// named finds names and versions in manifests: release files, raw files, images, and images with another tag.
var named = []*regexp.Regexp{
	regexp.MustCompile(`https://github\.com/([^/\s]+/[^/\s]+)/releases/download/([^/\s]+)/`),
	regexp.MustCompile(`https://raw\.githubusercontent\.com/([^/\s]+/[^/\s]+)/([^/\s]+)/`),
	regexp.MustCompile(`image: [^/\s]+/([^:\s]+):(\S+)`),
	regexp.MustCompile(`name: [^/\s]+/(\S+)\n\s+newTag: (\S+)`),
	regexp.MustCompile(`(kubernetes_version): (v\S+)`),
	regexp.MustCompile(`(node_image_digests):\n\s+(v\S+: \S+)`),
}

// pinned returns the versions that the repository pins, by name, and the names that manifests have.
func pinned(t *testing.T, root string) (versions map[string]map[string]bool, manifests []string) {
	t.Helper()
	versions = map[string]map[string]bool{}
	add := func(name, version string) {
		if versions[name] == nil {
			versions[name] = map[string]bool{}
		}
		versions[name][version] = true
	}
	modules, err := filepath.Glob(filepath.Join(root, "e2e", "lab", "modules", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	standApart := apart()
	for _, file := range append(modules, filepath.Join(root, "go.mod")) {
		folder := filepath.Base(filepath.Dir(file))
		_, isApart := standApart[folder]
		for module, version := range pins(t, file) {
			if module == "k8s.io/client-go" {
				version = strings.Replace(version, "v0.", "v1.", 1) // as Kubernetes itself counts
			}
			if !isApart || strings.Contains(module, folder) { // what stands apart has other versions of the rest
				add(module, version)
			}
		}
	}
	for _, folder := range []string{"kustomize-components", "environment-values", "charts"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			content, err := os.ReadFile(path)
			for _, pattern := range named {
				for _, match := range pattern.FindAllStringSubmatch(string(content), -1) {
					name, version := match[1], match[2]
					if strings.Contains(version, "+rke2") {
						name += " of RKE2"
					}
					add(name, strings.Replace(version, ": ", "@", 1))
					manifests = append(manifests, name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	image, version, _ := strings.Cut(kind.DefaultNodeImage, ":")
	add(image, version)
	add("fluxcd/flux2", fluxinstall.Version)
	return versions, manifests
}

func TestVersionsPageNamesWhatIsPinned(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "versions.md"))
	if err != nil {
		t.Fatal(err)
	}
	versions, manifests := pinned(t, root)
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 8 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "part" {
			continue
		}
		part, version := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		rows[part] = true
		if documented[part] == nil {
			t.Errorf("the row %q is not known to this test", part)
		}
		for _, name := range documented[part] {
			if found := slices.Sorted(maps.Keys(versions[name])); len(found) != 1 || found[0] != version {
				t.Errorf("docs/reference/versions.md says %s %s, the repository has %s %v", part, version, name, found)
			}
		}
	}
	claimed := map[string]bool{}
	for part, names := range documented {
		if !rows[part] {
			t.Errorf("docs/reference/versions.md has no row for %s", part)
		}
		for _, name := range names {
			claimed[name] = true
		}
	}
	for _, name := range manifests {
		if !claimed[name] {
			t.Errorf("docs/reference/versions.md has no row for %s %v", name, slices.Sorted(maps.Keys(versions[name])))
		}
	}
}
