package capi

import (
	"context"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Inventory returns clusterctl's own record of the providers that it installed. It is empty if they were installed in
// another way. A move compares the records of both sides.
func Inventory(ctx context.Context, c client.Reader) ([]clusterctlv1.Provider, error) {
	return list[clusterctlv1.Provider](ctx, c, providerKind)
}
