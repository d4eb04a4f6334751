package offline

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// keepalivedSystem is the root file system that the packages of keepalived's image are taken from: its Pod needs curl
// and a shell, too.
func keepalivedSystem() debian.Rootfs {
	return debian.Rootfs{Name: "keepalived", Packages: append(baseSystem().Packages, "keepalived")}
}

// keepalivedImage makes the image of keepalived: the root file system that other images have, and one layer on top.
func (b *builder) keepalivedImage(ctx context.Context) (part, error) {
	below, err := baseSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	rootfs, err := keepalivedSystem().Build(ctx, b.Store, b.Say)
	if err != nil {
		return part{}, err
	}
	entry := bundle.Image{Reference: plan.KeepalivedImage, Load: bundle.LoadRegistry, DebianBased: true}
	key := store.Key(recipe, below.Key, rootfs.Key, entry.Reference)
	return b.makeImage("keepalived", key, entry, func(work string) (v1.Image, error) {
		base, err := image.WriteRootLayer(work, below.Archive, node.Unwanted)
		if err != nil {
			return nil, err
		}
		packages, err := differenceLayer(work, below, rootfs)
		if err != nil {
			return nil, err
		}
		return image.Assemble(v1.Config{Env: []string{path}, Entrypoint: []string{"keepalived", "--dont-fork"}}, base,
			packages)
	})
}

// differenceLayer makes a layer of what a root file system has on top of the one below.
func differenceLayer(work string, below, rootfs debian.Built) (v1.Layer, error) {
	different, err := image.Difference(below.Archive, rootfs.Archive)
	if err != nil {
		return nil, err
	}
	return image.WriteRootLayer(work, rootfs.Archive, func(name string) bool {
		return !different[name] ||
			node.Unwanted(name)
	})
}
