package vm

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"sigs.k8s.io/yaml"
)

// kubeadmConfig is the configuration of a cluster of one node, which takes the pods of components. The last document
// lacks the version of Kubernetes: the machine adds that of its image.
func kubeadmConfig(pods, services string) (string, error) {
	first, err := yaml.Marshal(map[string]any{
		"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration",
		"nodeRegistration": map[string]any{"taints": []any{}},
	})
	if err != nil {
		return "", err
	}
	second, err := yaml.Marshal(map[string]any{
		"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "clusterName": "bootstrap",
		"networking": map[string]any{"podSubnet": pods, "serviceSubnet": services},
	})
	return string(first) + "---\n" + string(second), err
}

// podNetwork is a pod network for one node, of plugins that come with Kubernetes: nothing runs in the cluster for it.
// The machine fills in the MTU: networks of clouds often have less than the usual one.
func podNetwork(pods string) (string, error) {
	subnet, err := netip.ParsePrefix(pods)
	if err != nil {
		return "", fmt.Errorf("the range of pods: %w", err)
	}
	// kubeadm's controllers give the first node the first part of the range.
	bits, everywhere := max(24, subnet.Bits()), "0.0.0.0/0"
	if subnet.Addr().Is6() {
		bits, everywhere = max(64, subnet.Bits()), "::/0"
	}
	config, err := json.MarshalIndent(map[string]any{
		"cniVersion": "0.4.0", "name": "cluster-init",
		"plugins": []any{map[string]any{
			"type": "ptp", "ipMasq": true, "mtu": 0,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": "/run/cni-ipam-state",
				"ranges": []any{[]any{map[string]any{"subnet": netip.PrefixFrom(subnet.Addr(), bits).String()}}},
				"routes": []any{map[string]any{"dst": everywhere}},
			},
		}},
	}, "", "  ")
	return string(config) + "\n", err
}
