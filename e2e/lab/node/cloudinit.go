package node

import (
	_ "embed"

	"github.com/cluster-init/cluster-init/e2e/lab/image"
)

// CloudInitPackages are the Debian packages of a cloud's machine besides those of a node.
var CloudInitPackages = []string{"cloud-init"}

var (
	//go:embed cloudinit/90-lab.cfg
	cloudConfig []byte
	//go:embed cloudinit/kubeadm
	kubeadmWrapper []byte
	//go:embed cloudinit/kubelet.conf
	kubeletConfig []byte
	//go:embed cloudinit/kubelet.env
	kubeletFlags []byte
)

// CloudInitFiles are what lies on top of a node's files in such a machine: cloud-init's units, which Unwanted has left
// out, its configuration, and what kubeadm and the kubelet need in a container, as no
// cloud tells them that they are in one.
func CloudInitFiles() []image.Entry {
	entries := []image.Entry{
		{Path: "var/lib/cloud/"}, // where the config drive is put before the first start
		{Path: "etc/cloud/cloud.cfg.d/90-lab.cfg", Content: cloudConfig},
		{Path: "etc/cluster-init.io/kubelet.d/10-container.conf", Content: kubeletConfig},
		{Path: "etc/default/kubelet", Content: kubeletFlags},
		// Before /usr/bin, where kubeadm itself is, in the PATH of what cloud-init runs.
		{Path: "usr/local/bin/kubeadm", Content: kubeadmWrapper, Mode: 0o755},
	}
	for _, unit := range []string{"cloud-init-local", "cloud-init", "cloud-config", "cloud-final"} {
		entries = append(entries, image.Entry{
			Path: "etc/systemd/system/cloud-init.target.wants/" + unit + ".service", Link: "/usr/lib/systemd/system/" +
				unit + ".service",
		})
	}
	return entries
}
