package oci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// blobArtifact is an OCI artifact of one layer with a config of any media type, held in memory. It is an image to
// go-containerregistry, whose own image builder knows image configs only.
type blobArtifact struct {
	config   []byte
	layer    []byte
	manifest []byte
}

// NewArtifact makes an artifact of a config and a layer, each with its media type.
func NewArtifact(config, layer []byte, configType, layerType types.MediaType, annotations map[string]string) (
	v1.Image, error) {
	describe := func(data []byte, mediaType types.MediaType) (v1.Descriptor, error) {
		hash, size, err := v1.SHA256(bytes.NewReader(data))
		return v1.Descriptor{MediaType: mediaType, Size: size, Digest: hash}, err
	}
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: annotations}
	var err error
	if m.Config, err = describe(config, configType); err != nil {
		return nil, err
	}
	l, err := describe(layer, layerType)
	if err != nil {
		return nil, err
	}
	m.Layers = []v1.Descriptor{l}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&blobArtifact{config: config, layer: layer, manifest: raw})
}

// MediaType is that of an OCI manifest.
func (a *blobArtifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest is the manifest's JSON.
func (a *blobArtifact) RawManifest() ([]byte, error) { return a.manifest, nil }

// RawConfigFile is the config, unchanged.
func (a *blobArtifact) RawConfigFile() ([]byte, error) { return a.config, nil }

// LayerByDigest returns the config or the layer.
func (a *blobArtifact) LayerByDigest(hash v1.Hash) (partial.CompressedLayer, error) {
	var m v1.Manifest
	if err := json.Unmarshal(a.manifest, &m); err != nil {
		return nil, err
	}
	if hash == m.Config.Digest {
		return &blobLayer{a.config, m.Config}, nil
	}
	if hash == m.Layers[0].Digest {
		return &blobLayer{a.layer, m.Layers[0]}, nil
	}
	return nil, fmt.Errorf("no blob %s", hash)
}

// blobLayer is one blob of an artifact.
type blobLayer struct {
	data []byte
	desc v1.Descriptor
}

// Digest is the blob's hash.
func (l *blobLayer) Digest() (v1.Hash, error) { return l.desc.Digest, nil }

// Size is the blob's length in bytes.
func (l *blobLayer) Size() (int64, error) { return l.desc.Size, nil }

// MediaType is the blob's media type.
func (l *blobLayer) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }

// Compressed is the blob.
func (l *blobLayer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.data)), nil
}
