// Package vm writes the user data of a disposable machine that makes a bootstrap cluster with kubeadm, and runs `up`
// from there.
package vm

import (
	_ "embed"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Machine is a disposable machine. It boots from an image that has containerd, kubeadm, kubelet and the CNI plugins.
type Machine struct {
	// Cluster is the name of the management cluster: letters, digits and hyphens.
	Cluster string
	// Version is that of this cluster-init, for people.
	Version string
	// Files are the further files of the machine. Those of InFolder are the environment.
	Files []File
	// Secrets are files, and variables for `up`, that others must not read.
	Secrets   []File
	Variables map[string]string
	// Prepare are commands for a shell, before kubeadm runs.
	Prepare []string
	// PodCIDR and ServiceCIDR are those of the bootstrap cluster.
	PodCIDR, ServiceCIDR string
	// BinaryURL is where the machine gets cluster-init, an executable or an archive (.tar.gz) that holds one.
	// BinarySHA256 is the digest of that file.
	BinaryURL, BinarySHA256 string
	// Up are the arguments of `up` besides the environment and the bootstrap cluster.
	Up []string
	// PowerOff reports whether the machine powers itself off when `up` has succeeded.
	PowerOff bool
}

// File is a file by its absolute path. Only root may read it.
type File struct{ Path, Content string }

const folder = "/etc/cluster-init/"

// environmentFolder is the folder of the environment on the machine.
func environmentFolder(cluster string) string { return folder + "environments/" + cluster }

// kubeconfigPath is the path of the management cluster's kubeconfig on the machine.
func kubeconfigPath(cluster string) string { return "/var/lib/cluster-init/" + cluster + "/kubeconfig" }

var (
	//go:embed bootstrap.sh
	script string
	//go:embed cluster-init-vm.service
	unit string
)

// public returns the files without secrets.
func (m Machine) public() ([]File, error) {
	network, err := podNetwork(m.PodCIDR)
	if err != nil {
		return nil, err
	}
	cluster, err := kubeadmConfig(m.PodCIDR, m.ServiceCIDR)
	if err != nil {
		return nil, err
	}
	return append([]File{
		{folder + "bootstrap.sh", script},
		{folder + "settings", m.settings()},
		{folder + "prepare", strings.Join(append(m.Prepare, ""), "\n")},
		{folder + "kubeadm.yaml", cluster},
		{folder + "network.conflist", network},
		{"/etc/systemd/system/cluster-init-vm.service", unit},
	}, m.Files...), nil
}

// secret returns the files with secrets. The last one tells the machine that all are there.
func (m Machine) secret() []File {
	var variables strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.Variables)) {
		variables.WriteString(name + "=" + quote(m.Variables[name]) + "\n")
	}
	return append(slices.Clone(m.Secrets), File{folder + "variables", variables.String()},
		File{folder + "complete", ""})
}

// settings is what the script reads.
func (m Machine) settings() string {
	afterwards := "stay"
	if m.PowerOff {
		afterwards = "poweroff"
	}
	form := "executable"
	if u, err := url.Parse(m.BinaryURL); err == nil &&
		(strings.HasSuffix(u.Path, ".tar.gz") || strings.HasSuffix(u.Path, ".tgz")) {
		form = "archive"
	}
	up := []string{"/opt/cluster-init/cluster-init", "up", environmentFolder(m.Cluster), "--bootstrap-kubeconfig",
		"/etc/kubernetes/admin.conf", "--output", "plain"}
	var words []string
	for _, word := range append(up, m.Up...) {
		words = append(words, quote(word))
	}
	return "binary_url=" + quote(m.BinaryURL) + "\nbinary_sha256=" + quote(m.BinarySHA256) + "\nbinary_form=" +
		form + "\npod_cidr=" + quote(m.PodCIDR) + "\nafterwards=" + afterwards + "\nkubeconfig=" +
		quote(kubeconfigPath(m.Cluster)) +
		"\nup() {\n  " + strings.Join(words, " ") + "\n}\n"
}

// quote makes one word of any text for a shell of POSIX. oneline.Shell writes words that only newer shells read.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// InFolder returns files by their names in the folder of the environment.
func InFolder(cluster string, files map[string][]byte) []File {
	var all []File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, File{path.Join(environmentFolder(cluster), name), string(files[name])})
	}
	return all
}
