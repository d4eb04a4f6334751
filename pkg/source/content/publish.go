// Package content makes what Flux reads, the kustomize components and the chart, and publishes it as OCI artifacts.
package content

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/pkg/oci"
)

const (
	fluxConfigType  = "application/vnd.cncf.flux.config.v1+json"
	fluxContentType = "application/vnd.cncf.flux.content.v1.tar+gzip"

	componentsDir = "kustomize-components"
	chartsDir     = "charts"
	chartName     = "telco-cloud-init"

	contentPath = "cluster-init/content" // below the target
	chartsPath  = "cluster-init/charts"
)

// Published is the result of Publish in a registry.
type Published struct {
	Content oci.Artifact // the kustomize components, tagged with the hash of their tree
	Chart   oci.Artifact // the Helm chart, tagged with its version
}

// PublishOptions specifies what to publish, and where its remote parts come from.
type PublishOptions struct {
	// FS holds kustomize-components/ and charts/telco-cloud-init.
	FS fs.FS
	// Profile are further files of kustomize-components/, from a bundle and of the user. Nil means none.
	Profile map[string][]byte
	// Paths are the component folders whose remote resources are localized, e.g.
	// "./kustomize-components/cert-manager": those of the enabled components.
	Paths []string
	// Fetch gets remote resources. Nil leaves them remote: the cluster fetches them itself.
	Fetch Fetcher
}

// ReleaseFiles lists the URLs that Publish fetches if it has a Fetch.
func (o PublishOptions) ReleaseFiles(ctx context.Context) ([]string, error) {
	tree, err := Components(o.FS, o.Profile)
	if err != nil {
		return nil, err
	}
	return RemoteFiles(ctx, tree, o.Paths)
}

// Tree returns the content that Publish pushes, with what it fetched in it.
func (o PublishOptions) Tree(ctx context.Context) (Tree, error) {
	tree, err := Components(o.FS, o.Profile)
	if err != nil || o.Fetch == nil {
		return tree, err
	}
	return Localize(ctx, tree, o.Paths, o.Fetch)
}

// Publish pushes the content and the chart to target and returns their references. It skips what is there already, so
// every run can call it.
func Publish(ctx context.Context, target oci.Target, o PublishOptions) (Published, error) {
	tree, err := o.Tree(ctx)
	if err != nil {
		return Published{}, err
	}
	content, err := packContent(tree)
	if err != nil {
		return Published{}, err
	}
	chart, err := packChart(o.FS, chartsDir+"/"+chartName)
	if err != nil {
		return Published{}, err
	}
	var p Published
	if p.Content, err = target.Push(ctx, contentPath, tree.Hash()[:12], content); err != nil {
		return Published{}, err
	}
	p.Chart, err = target.Push(ctx, chartsPath+"/"+chart.name, chart.version, chart.image)
	return p, err
}

// packContent packs a tree as `flux push artifact` would, but independent of the date and the machine.
func packContent(tree Tree) (v1.Image, error) {
	layer, err := tree.tarGz()
	if err != nil {
		return nil, fmt.Errorf("pack content: %w", err)
	}
	config, err := json.Marshal(map[string]string{"created": epoch})
	if err != nil {
		return nil, err
	}
	return oci.NewArtifact(config, layer, fluxConfigType, fluxContentType, map[string]string{
		"org.opencontainers.image.created":  epoch,
		"org.opencontainers.image.source":   "cluster-init",
		"org.opencontainers.image.revision": "sha256:" + tree.Hash(),
	})
}

// epoch is the creation time of artifacts that must not depend on the date.
const epoch = "1970-01-01T00:00:00Z"
