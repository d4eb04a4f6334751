package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
	"github.com/cluster-init/cluster-init/e2e/lab/node"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
)

const (
	// recipe is part of every image's key: raise it when the way images are made changes.
	recipe = "2"
	// nodeRecipe is the same for the images of nodes alone.
	nodeRecipe = "1"
	// hostCertificates is where Debian keeps all certificate authorities in one file.
	hostCertificates = "/etc/ssl/certs/ca-certificates.crt"
	// path is what an image of Docker has when it says nothing.
	path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// users are those that upstream's images know.
	users = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
)

// loadCertificates reads the host's certificate authorities.
func (b *builder) loadCertificates() error {
	certs, err := os.ReadFile(hostCertificates)
	if err != nil {
		return fmt.Errorf("read the certificate authorities (Debian package ca-certificates): %w", err)
	}
	b.certs = certs
	return nil
}

// makeImage stores an image made by assemble under the key. The work folder of its layers goes away afterwards.
func (b *builder) makeImage(name, key string, entry bundle.Image, assemble func(work string) (v1.Image, error)) (
	part, error) {
	dir, err := b.Store.Get("image", name, key, func(dir string) error {
		work, err := os.MkdirTemp(filepath.Dir(dir), ".layers-")
		if err != nil {
			return fmt.Errorf("create a folder for layers: %w", err)
		}
		defer func() { _ = os.RemoveAll(work) }()
		made, err := assemble(work)
		if err != nil {
			return fmt.Errorf("make image %s: %w", entry.Reference, err)
		}
		layout, err := image.Create(dir)
		if err != nil {
			return err
		}
		return image.Add(layout, entry.Reference, made)
	})
	if err != nil {
		return part{}, err
	}
	stored, err := image.Single(dir)
	if err != nil {
		return part{}, err
	}
	digest, err := stored.Digest()
	entry.Digest = digest.String()
	return part{entry: entry, dir: dir, key: key}, err
}

// binaryImage makes an image of a module's binaries on scratch or on Debian.
func (b *builder) binaryImage(ctx context.Context, spec plan.Image) (part, error) {
	built := b.modules[spec.Module]
	key := store.Key(recipe, fmt.Sprintf("%+v", spec), built.Key, string(b.certs), users)
	entry := b.moduleEntry(spec.Reference, spec.Module)
	var rootfs debian.Built
	if len(spec.Debian) > 0 {
		entry.DebianBased = true
		var err error
		if rootfs, err = baseSystem().Build(ctx, b.Store, b.Say); err != nil {
			return part{}, err
		}
		key = store.Key(key, rootfs.Key)
	}
	return b.makeImage(spec.Files[0].Binary, key, entry, func(work string) (v1.Image, error) {
		var layers []v1.Layer
		entries := []image.Entry{{Path: "tmp/", Mode: 0o1777}}
		if rootfs.Archive == "" {
			entries = append(entries, image.Entry{Path: "etc/passwd", Content: []byte(users)},
				image.Entry{Path: "etc/ssl/certs/ca-certificates.crt", Content: b.certs})
		} else {
			base, err := image.WriteRootLayer(work, rootfs.Archive, node.Unwanted)
			if err != nil {
				return nil, err
			}
			layers = append(layers, base)
		}
		for _, file := range spec.Files {
			entries = append(entries, image.Entry{Path: file.Path, Source: built.File(file.Binary), Mode: 0o755})
		}
		top, err := image.WriteLayer(work, entries)
		if err != nil {
			return nil, err
		}
		return image.Assemble(v1.Config{
			Env: append([]string{path}, spec.Env...), Entrypoint: []string{"/" + spec.Files[0].Path}, User: spec.User,
			WorkingDir: "/",
		}, append(layers, top)...)
	})
}
