package capi

import (
	"context"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Inventory returns what clusterctl itself recorded of the providers that it installed; nothing where they were
// installed in another way. A move holds the two sides' records against each other.
func Inventory(ctx context.Context, c client.Reader) ([]clusterctlv1.Provider, error) {
	return list[clusterctlv1.Provider](ctx, c, providerKind)
}
