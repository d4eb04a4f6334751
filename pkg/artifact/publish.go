package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const (
	fluxConfigType  = "application/vnd.cncf.flux.config.v1+json"
	fluxContentType = "application/vnd.cncf.flux.content.v1.tar+gzip"

	componentsDir = "kustomize-components"
	chartsDir     = "charts"
	chartName     = "telco-cloud-init"
)

// PublishOptions says what is published and where its remote parts come from.
type PublishOptions struct {
	// FS holds kustomize-components/ and charts/telco-cloud-init.
	FS fs.FS
	// Profile holds further files of kustomize-components/, of a bundle; nil for none.
	Profile map[string][]byte
	// Paths are the component folders whose remote resources are localized, e.g.
	// "./kustomize-components/cert-manager": those of the enabled components.
	Paths []string
	// Fetch gets remote resources. Nil leaves them remote: the cluster fetches them itself.
	Fetch Fetcher
}

// Publish pushes the content and the chart to target and says where they are. What is there already is not sent
// again, so it may be called at every start.
func Publish(ctx context.Context, target Target, o PublishOptions) (Published, error) {
	tree, err := Components(o.FS, o.Profile)
	if err != nil {
		return Published{}, err
	}
	if o.Fetch != nil {
		if tree, err = Localize(ctx, tree, o.Paths, o.Fetch); err != nil {
			return Published{}, err
		}
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
	if p.Content, err = target.push(ctx, contentPath, tree.Hash()[:12], content); err != nil {
		return Published{}, err
	}
	p.Chart, err = target.push(ctx, chartsPath+"/"+chart.name, chart.version, chart.image)
	return p, err
}

// packContent packs a tree as `flux push artifact` would, but with nothing of the day or the machine in it.
func packContent(tree Tree) (v1.Image, error) {
	layer, err := tree.tarGz()
	if err != nil {
		return nil, fmt.Errorf("pack content: %w", err)
	}
	config, err := json.Marshal(map[string]string{"created": epoch})
	if err != nil {
		return nil, err
	}
	return newBlobArtifact(config, layer, fluxConfigType, fluxContentType, map[string]string{
		"org.opencontainers.image.created":  epoch,
		"org.opencontainers.image.source":   "cluster-init",
		"org.opencontainers.image.revision": "sha256:" + tree.Hash(),
	})
}

// epoch is the creation time of what must not change with the day it is made.
const epoch = "1970-01-01T00:00:00Z"

// push sends an artifact unless that tag has that digest already.
func (t Target) push(ctx context.Context, path, tag string, img v1.Image) (Artifact, error) {
	repo, err := t.repository(path)
	if err != nil {
		return Artifact{}, fault.Wrap(err, fault.Usage, "an OCI registry is named host[:port][/path]")
	}
	digest, err := img.Digest()
	if err != nil {
		return Artifact{}, err
	}
	ref := repo.Tag(tag)
	options := append(t.options(), remote.WithContext(ctx))
	pushed := Artifact{Repository: repo.Name(), Tag: tag, Digest: digest.String()}
	if there, err := hasDigest(ref, digest, options); err != nil || there {
		return pushed, wrapPush(ref, err)
	}
	return pushed, wrapPush(ref, remote.Write(ref, img, options...))
}

// hasDigest says whether the registry has the tag with that digest.
func hasDigest(ref name.Reference, digest v1.Hash, options []remote.Option) (bool, error) {
	head, err := remote.Head(ref, options...)
	if err == nil {
		return head.Digest == digest, nil
	}
	if t, ok := errors.AsType[*transport.Error](err); ok && t.StatusCode == http.StatusNotFound {
		return false, nil
	}
	return false, err
}

func wrapPush(ref name.Reference, err error) error {
	if err == nil {
		return nil
	}
	return unreadable(fmt.Errorf("push %s: %w", ref.Name(), withoutURL(err)))
}
