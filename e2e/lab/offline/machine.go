package offline

import (
	"context"
	"fmt"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// openstackMachine makes the image of the containers that stand for servers of OpenStack: a node image with two layers
// on top, Debian's cloud-init with all that it needs, and the files that make a container boot like a machine of a
// cloud.
func (b *builder) openstackMachine(ctx context.Context, repository string, base part) (part, error) {
	below, err := baseSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	rootfs, err := serverSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	files := node.CloudInitFiles()
	entry := base.entry
	entry.Reference = repository + ":" + b.modules["kubernetes"].Pin.Version
	key := store.Key(recipe, base.key, base.entry.Digest, below.Key, rootfs.Key, fmt.Sprint(files), entry.Reference)
	return b.makeImage(filepath.Base(repository), key, entry, func(work string) (v1.Image, error) {
		machine, err := image.Single(base.dir)
		if err != nil {
			return nil, err
		}
		packages, err := differenceLayer(work, below, rootfs)
		if err != nil {
			return nil, err
		}
		top, err := image.WriteLayer(work, files)
		if err != nil {
			return nil, err
		}
		history := v1.History{CreatedBy: "cluster-init lab"}
		return mutate.Append(machine,
			mutate.Addendum{Layer: packages, MediaType: types.OCILayer, History: history},
			mutate.Addendum{Layer: top, MediaType: types.OCILayer, History: history})
	})
}
