package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	kubeadmVersion = "kubeadm.k8s.io/v1beta4"
	criSocket      = "unix:///var/run/containerd/containerd.sock"
	apiServerPort  = "6443"
)

// ignoredChecks are preflight checks that a node in a container cannot pass, as Cluster API's docker provider ignores
// them too; RKE2 asks for no number of processors and no size of memory.
var ignoredChecks = []string{
	"SystemVerification", "Swap", "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables", "NumCPU", "Mem",
}

// document is one object of a kubeadm configuration.
type document = map[string]any

// initConfiguration is what `kubeadm init` does for the first server.
func initConfiguration(p paths, cfg config, own machine, endpoint, token string) []document {
	return []document{
		{
			"apiVersion": kubeadmVersion, "kind": "InitConfiguration",
			"nodeRegistration": nodeRegistration(cfg, own),
			"localAPIEndpoint": document{"advertiseAddress": own.address},
			"patches":          document{"directory": p.patches()},
			// kubeadm wants to make a token for joining; this one is not needed, so it expires soon.
			"bootstrapTokens": []any{document{"token": token, "ttl": "1m0s"}},
			"skipPhases":      skippedPhases(cfg),
		},
		{
			"apiVersion": kubeadmVersion, "kind": "ClusterConfiguration",
			"kubernetesVersion": kubernetesVersion(), "controlPlaneEndpoint": endpoint,
			"networking": document{
				"podSubnet": cfg.clusterCIDR, "serviceSubnet": cfg.serviceCIDR, "dnsDomain": cfg.clusterDomain,
			},
			"apiServer": document{
				"certSANs": own.serverNames(cfg),
				// In place of kubeadm's own: more authorities are accepted.
				"extraArgs": []any{argument("client-ca-file", filepath.Join(p.pki(), clientAuthorities))},
			},
		},
		{
			// In a container, the disk, swap and the cgroup version are the host's.
			"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
			"failCgroupV1": false, "failSwapOn": false, "imageGCHighThresholdPercent": 100, "cgroupRoot": "/kubelet",
			"evictionHard": document{"imagefs.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%"},
		},
		{
			// nf_conntrack_max is the host's too.
			"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
			"conntrack": document{"maxPerCore": 0},
		},
	}
}

// joinConfiguration is what `kubeadm join` does for a further server or an agent.
func joinConfiguration(p paths, cfg config, own machine, server bool, token string) document {
	join := document{
		"apiVersion": kubeadmVersion, "kind": "JoinConfiguration",
		"discovery": document{
			"file": document{"kubeConfigPath": p.own("discovery.conf")}, "tlsBootstrapToken": token,
		},
		"nodeRegistration": nodeRegistration(cfg, own),
	}
	if server {
		join["patches"] = document{"directory": p.patches()}
		join["controlPlane"] = document{"localAPIEndpoint": document{"advertiseAddress": own.address}}
		join["skipPhases"] = []string{"control-plane-join/mark-control-plane"}
	}
	return join
}

// skippedPhases leaves out what RKE2 does otherwise, or what the configuration disables. The labels of servers are
// RKE2's, so kubeadm does not set its own.
func skippedPhases(cfg config) []string {
	phases := []string{"mark-control-plane", "show-join-command"}
	if cfg.disableKubeProxy {
		phases = append(phases, "addon/kube-proxy")
	}
	if slices.Contains(cfg.disable, "rke2-coredns") {
		phases = append(phases, "addon/coredns")
	}
	return phases
}

// nodeRegistration is how the node registers: with its address, and with the configuration's labels and taints, and no
// others.
func nodeRegistration(cfg config, own machine) document {
	arguments := []any{
		argument("runtime-cgroups", "/system.slice/containerd.service"),
		// Always, as RKE2: where the cloud's controller gives the addresses, kube-proxy waits half a minute for one,
		// and that controller for kube-proxy.
		argument("node-ip", cmp.Or(cfg.nodeIP, own.address)),
	}
	if len(cfg.nodeLabels) > 0 {
		arguments = append(arguments, argument("node-labels", strings.Join(cfg.nodeLabels, ",")))
	}
	if len(cfg.nodeTaints) > 0 {
		arguments = append(arguments, argument("register-with-taints", strings.Join(cfg.nodeTaints, ",")))
	}
	for _, flag := range cfg.kubeletArgs {
		name, value := splitFlag(flag)
		arguments = append(arguments, argument(name, value))
	}
	return document{
		"name": own.name, "criSocket": criSocket, "ignorePreflightErrors": ignoredChecks, "kubeletExtraArgs": arguments,
		"taints": []any{}, // without it, kubeadm would taint servers
	}
}

func argument(name, value string) document { return document{"name": name, "value": value} }

// splitFlag reads NAME=VALUE, --NAME=VALUE or --NAME.
func splitFlag(flag string) (name, value string) {
	name, value, found := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	if !found {
		value = "true"
	}
	return name, value
}

// writePatches writes kubeadm's patches of the static pods. Each server has its own, as in RKE2, where kubeadm's
// configuration is one for the cluster. The last of two flags counts.
func writePatches(p paths, cfg config, member, cluster string) error {
	apiServer := cfg.apiServerArgs
	if cfg.nodePortRange != "" {
		apiServer = append([]string{"service-node-port-range=" + cfg.nodePortRange}, apiServer...)
	}
	flags := map[string][]string{
		"etcd":                    append([]string{"name=" + member, "initial-cluster=" + cluster}, cfg.etcdArgs...),
		"kube-apiserver":          apiServer,
		"kube-controller-manager": cfg.controllerArgs,
		"kube-scheduler":          cfg.schedArgs,
	}
	for _, component := range slices.Sorted(maps.Keys(flags)) {
		operations := []any{}
		for _, flag := range flags[component] {
			name, value := splitFlag(flag)
			operations = append(operations, document{
				"op": "add", "path": "/spec/containers/0/command/-", "value": "--" + name + "=" + value,
			})
		}
		content, err := yaml.Marshal(operations)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(p.patches(), component+"0+json.yaml"), content); err != nil {
			return err
		}
	}
	return nil
}

// runKubeadm writes the configuration where only root reads it, as it holds a token, and runs kubeadm with it.
func runKubeadm(ctx context.Context, p paths, command string, arguments []string, documents ...document) error {
	var parts []string
	for _, each := range documents {
		content, err := yaml.Marshal(each)
		if err != nil {
			return fmt.Errorf("write kubeadm's configuration: %w", err)
		}
		parts = append(parts, string(content))
	}
	file := p.own(command + ".yaml")
	if err := writeFile(file, []byte(strings.Join(parts, "---\n"))); err != nil {
		return err
	}
	return call(ctx, "kubeadm", append([]string{command, "--config", file}, arguments...)...)
}

func hostPort(host, port string) string { return net.JoinHostPort(host, port) }
