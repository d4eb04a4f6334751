package image

import (
	"fmt"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// Assemble makes an image of layers and a configuration.
func Assemble(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	addenda := make([]mutate.Addendum, 0, len(layers))
	for _, layer := range layers {
		addenda = append(addenda, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
			History: v1.History{CreatedBy: "cluster-init lab"}})
	}
	image, err := mutate.Append(base, addenda...)
	if err != nil {
		return nil, fmt.Errorf("assemble an image: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("assemble an image: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config
	return mutate.ConfigFile(image, file)
}

// Create writes an empty image layout into dir.
func Create(dir string) (layout.Path, error) {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", fmt.Errorf("create an image layout: %w", err)
	}
	return path, nil
}

// Add adds an image to a layout under its full reference, for cluster-init and for containerd's import alike.
func Add(path layout.Path, reference string, image v1.Image) error {
	err := path.AppendImage(image, layout.WithAnnotations(map[string]string{
		bundle.RefNameAnnotation:   reference,
		"io.containerd.image.name": reference,
	}))
	if err != nil {
		return fmt.Errorf("write image %s: %w", reference, err)
	}
	return nil
}

// Single reads the one image of a layout.
func Single(dir string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("read image layout %s: %w", dir, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read image layout %s: %w", dir, err)
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("image layout %s holds %d images, expected one", dir, len(manifest.Manifests))
	}
	return index.Image(manifest.Manifests[0].Digest)
}
