package plan

import (
	"fmt"
	"slices"
	"strings"
)

// NetworkImage is the image of the lab's pod network; e2e/lab/manifests/lab-cni.yaml names it.
const NetworkImage = "ghcr.io/cluster-init/lab-cni:v1"

// environments are those that the lab can build a bundle for.
var environments = []string{"kubeadm-capd"}

// CheckEnvironment returns an error when the lab cannot build a bundle for the environment.
func CheckEnvironment(name string) error {
	if slices.Contains(environments, name) {
		return nil
	}
	return fmt.Errorf("the lab builds no bundle for environment %q, only for: %s", name, strings.Join(environments, ", "))
}

// Values are the Helm values that differ from the defaults where a cluster is made from the bundle: its own network,
// and the cert-manager release whose binaries can be built from one module.
func Values() map[string]any {
	return map[string]any{
		"cni": "ptp",
		"components": map[string]any{
			"cert-manager": map[string]any{"path": "./kustomize-components/cert-manager/lab"},
		},
	}
}
