package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NetworkImage is the image of the lab's pod network; the component lab-cni of the profile names it.
const NetworkImage = "ghcr.io/cluster-init/lab-cni:v1"

// Who turns the machines of an environment into nodes, and who makes them.
const (
	Kubeadm   = "kubeadm"
	RKE2      = "rke2"
	Docker    = "capd"
	OpenStack = "capo"
)

// providers names the bootstrap and the infrastructure provider of each environment that the lab can build a bundle
// for.
func providers() map[string][]string {
	return map[string][]string{
		"kubeadm-capd": {Kubeadm, Docker}, "rke2-capd": {RKE2, Docker},
		"kubeadm-capo": {Kubeadm, OpenStack}, "rke2-capo": {RKE2, OpenStack},
	}
}

// CheckEnvironments returns an error when there is none, or when the lab cannot build a bundle for one of them.
func CheckEnvironments(names []string) error {
	known := slices.Sorted(maps.Keys(providers()))
	if len(names) == 0 {
		return fmt.Errorf("a bundle is built for at least one environment: %s", strings.Join(known, ", "))
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the lab builds no bundle for environment %q, only for: %s", name,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// Uses reports whether one of the environments has the provider; of several, whether one environment has them all.
func Uses(environments []string, wanted ...string) bool {
	return slices.ContainsFunc(environments, func(name string) bool {
		return !slices.ContainsFunc(wanted,
			func(provider string) bool { return !slices.Contains(providers()[name], provider) })
	})
}

// Values are the Helm values that differ from the defaults where a cluster is made from the bundle: its own network.
func Values() map[string]any {
	return map[string]any{
		"cni":        "custom",
		"components": map[string]any{"cni": map[string]any{"path": "./kustomize-components/lab-cni"}},
	}
}
