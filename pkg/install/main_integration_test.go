//go:build integration

package install

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
)

// shared is the API server that all integration tests of this package use.
var shared fluxserver.Server

func TestMain(m *testing.M) {
	fluxserver.Main(m, func(s fluxserver.Server) { shared = s })
}
