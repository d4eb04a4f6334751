//go:build capa

// Package providers runs Cluster API and its providers in front of a real API server as a cluster would, but without a
// machine: what a component renders is applied, and the managers of its Deployments run as processes of the test, with
// the flags, variables and Secrets that their Deployments give them.
package providers

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// Releases are the manifests of Cluster API and of its providers.
type Releases struct{ apiserver.Manifests }

// ReadReleases reads them from what the lab has rendered.
func ReadReleases() (Releases, error) {
	manifests, err := apiserver.ReadManifests()
	return Releases{manifests}, err
}

// Fetch returns the manifest of that address.
func (r Releases) Fetch(_ context.Context, url string) ([]byte, error) { return r.Get(url) }
