package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// rebuild is the hint for a bundle that is incomplete or damaged.
const rebuild = "Build or download the bundle again: " +
	"https://github.com/cluster-init/cluster-init/blob/main/docs/guides/bundle.md"

// Bundle is an opened bundle. It is safe for use by several goroutines.
type Bundle struct {
	// Dir is the bundle's folder.
	Dir string
	// Index is the content of bundle.json.
	Index Index

	layout layout.Path
}

// Open opens the bundle in dir and checks that everything listed exists: it compares the layout's index with
// bundle.json and the sizes of blobs. It does not read the blobs, as Verify does. Every error is a fault with code
// bundle/invalid and names what is missing.
func Open(dir string) (*Bundle, error) {
	index, err := readIndex(dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.BundleInvalid, rebuild)
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("open the image layout of the bundle %s: %w", dir, err), fault.BundleInvalid,
			rebuild)
	}
	bundle := &Bundle{Dir: dir, Index: index, layout: path}
	if err := bundle.check(); err != nil {
		return nil, fault.Wrap(fmt.Errorf("the bundle %s is not complete: %w", dir, err), fault.BundleInvalid, rebuild)
	}
	return bundle, nil
}

// readIndex reads bundle.json and checks its format. It refuses a bundle with links or special files.
func readIndex(dir string) (Index, error) {
	var index Index
	content, err := unpack.File(filepath.Join(dir, IndexFile), mostOfIndex)
	if errors.Is(err, os.ErrNotExist) {
		return index, fmt.Errorf("%s is not a bundle: it contains no %s", dir, IndexFile)
	}
	if err != nil {
		return index, fmt.Errorf("read the bundle: %w", err)
	}
	if err := errors.Join(checkFolder(dir), checkSize(filepath.Join(dir, "index.json"), mostOfIndex)); err != nil {
		return index, fmt.Errorf("read the bundle %s: %w", dir, err)
	}
	if err := json.Unmarshal(content, &index); err != nil {
		return index, fmt.Errorf("parse %s: %w", filepath.Join(dir, IndexFile), err)
	}
	if index.Schema != Schema {
		return index, fmt.Errorf("the bundle %s has format %d, this version of cluster-init reads format %d", dir,
			index.Schema, Schema)
	}
	return index, nil
}

// For returns an error when the bundle was not built for the environment, naming those that it has.
func (b *Bundle) For(environment string) error {
	if slices.Contains(b.Index.Environments, environment) {
		return nil
	}
	return fault.New(fault.BundleInvalid,
		fmt.Sprintf("the bundle %s contains no environment %q, only: %s", b.Dir, environment,
			strings.Join(b.Index.Environments, ", ")),
		"Build a bundle for it: https://github.com/cluster-init/cluster-init/blob/main/docs/guides/bundle.md")
}

// ForKubernetes returns an error if the bundle's node image is of another version of Kubernetes, such as v1.36.4 or
// v1.36.4+rke2r1: its machines would have to be fetched from outside.
func (b *Bundle) ForKubernetes(version string) error {
	if plain, _, _ := strings.Cut(version, "+"); plain == b.Index.KubernetesVersion {
		return nil
	}
	return fault.New(fault.BundleInvalid,
		fmt.Sprintf("the bundle %s contains Kubernetes %s (image %s), not %s", b.Dir, b.Index.KubernetesVersion,
			b.Index.NodeImage, version),
		"Remove cluster.kubernetes_version from your values, or build a bundle of that version.")
}

// Lookup returns the entry of an image by its full reference.
func (b *Bundle) Lookup(reference string) (Image, bool) {
	for _, image := range b.Index.Images {
		if image.Reference == reference {
			return image, true
		}
	}
	return Image{}, false
}

// Image returns the content of an image by its full reference.
func (b *Bundle) Image(reference string) (v1.Image, error) {
	entry, found := b.Lookup(reference)
	if !found {
		return nil, fault.New(fault.BundleInvalid, fmt.Sprintf("the bundle %s contains no image %s", b.Dir, reference),
			rebuild)
	}
	digest, err := v1.NewHash(entry.Digest)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the digest of %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	image, err := b.layout.Image(digest)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read image %s of the bundle: %w", reference, err), fault.BundleInvalid,
			rebuild)
	}
	return image, nil
}

// Manifest returns a remote manifest by its URL, or false if the bundle does not contain it. The checksum is verified.
func (b *Bundle) Manifest(url string) ([]byte, bool, error) {
	for _, entry := range b.Index.Manifests {
		if entry.URL != url {
			continue
		}
		content, err := b.readManifest(entry)
		if err != nil {
			return nil, true, fault.Wrap(err, fault.BundleInvalid, rebuild)
		}
		return content, true, nil
	}
	return nil, false, nil
}
