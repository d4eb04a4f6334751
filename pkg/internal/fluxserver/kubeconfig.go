package fluxserver

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// KubeconfigOf is one of a cluster with this authority, which needs not exist. Empty means it names none.
func KubeconfigOf(t *testing.T, authority, server string) []byte {
	t.Helper()
	return kubeconfig.Of(t, authority, server)
}
