//go:build integration

package manifests

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// released gives the release files that the lab has made.
type released struct{}

func (released) Fetch(_ context.Context, address string) ([]byte, error) {
	return apiserver.ReadManifest(address)
}

// The images of Flux's own controllers are asked for, too: without them nothing begins. No server is needed, but the
// archive that the lab makes.
func TestFluxImages(t *testing.T) {
	images, err := fluxImages(t.Context(), released{})
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range flux.Controllers() {
		if !slices.ContainsFunc(images, func(image string) bool {
			return strings.Contains(
				image, "/"+controller+":")
		}) {
			t.Errorf("none of %s: %v", controller, images)
		}
	}
}
