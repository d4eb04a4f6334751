package offline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// The node image holds the network's image under the reference that the manifest names; it cannot be pulled.
func TestNetworkManifestNamesTheImageThatNodesHold(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	file := networkManifest(root)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	images, err := manifest.Manifest{URL: file, Content: content}.Images()
	if err != nil || !slices.Equal(images, []string{plan.NetworkImage}) {
		t.Errorf("%s names %v (%v), the node image holds %s", file, images, err, plan.NetworkImage)
	}
}
