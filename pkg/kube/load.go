package kube

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// mostOfKubeconfig is the maximum size of a kubeconfig file, in bytes.
const mostOfKubeconfig = 16 << 20

// loadConfig parses a kubeconfig from any author.
func loadConfig(kubeconfig []byte) (*clientcmdapi.Config, error) {
	if err := unpack.YAML(kubeconfig); err != nil {
		return nil, err
	}
	return clientcmd.Load(kubeconfig)
}

// restConfig returns how to reach the cluster of a kubeconfig's current context.
func restConfig(kubeconfig []byte) (*rest.Config, error) {
	if err := unpack.YAML(kubeconfig); err != nil {
		return nil, err
	}
	return clientcmd.RESTConfigFromKubeConfig(kubeconfig)
}
