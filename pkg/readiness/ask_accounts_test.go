package readiness

import "testing"

func TestOnlyProvidersOfClusterAPIListClusters(t *testing.T) {
	for provider, want := range map[string]bool{
		"cluster-api": true, "bootstrap-kubeadm": true, "control-plane-rke2": true, "infrastructure-openstack": true,
		"": false, "cert-manager": false, "openstack-resource-controller": false, "infrastructure": false,
	} {
		if got := reconcilesClusters(provider); got != want {
			t.Errorf("provider %q: %v, want %v", provider, got, want)
		}
	}
}
