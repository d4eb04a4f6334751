package capi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// NewScheme returns a scheme with the types that a move handles: Kubernetes' own, CRDs, Cluster API's, clusterctl's.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, kube.AddDefinitions, clusterv1.AddToScheme,
		addonsv1.AddToScheme, controlplanev1.AddToScheme, clusterctlv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme of Cluster API: %w", err)
		}
	}
	return scheme, nil
}
