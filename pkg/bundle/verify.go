package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// check compares bundle.json with the folder without reading blobs. It reports everything that is missing.
func (b *Bundle) check() error {
	if err := b.checkPaths(); err != nil {
		return err
	}
	index, err := b.layout.ImageIndex()
	if err != nil {
		return fmt.Errorf("read the image layout: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return fmt.Errorf("read the image layout: %w", err)
	}
	digests := map[string]string{}
	for _, descriptor := range manifest.Manifests {
		digests[descriptor.Annotations[RefNameAnnotation]] = descriptor.Digest.String()
	}
	var missing []error
	for _, image := range b.Index.Images {
		switch digest, found := digests[image.Reference]; {
		case !found:
			missing = append(missing, fmt.Errorf("image %s is missing", image.Reference))
		case digest != image.Digest:
			missing = append(missing, fmt.Errorf("image %s is %s, expected %s", image.Reference, digest, image.Digest))
		default:
			if err := b.checkBlobs(image); err != nil {
				missing = append(missing, fmt.Errorf("image %s: %w", image.Reference, err))
			}
		}
	}
	for _, entry := range b.Index.Manifests {
		if _, err := os.Stat(filepath.Join(b.Dir, filepath.FromSlash(entry.Path))); err != nil {
			missing = append(missing, fmt.Errorf("manifest %s is missing (file %s)", oci.Redacted(entry.URL),
				entry.Path))
		}
	}
	for _, entry := range b.Index.Profile {
		if _, err := os.Stat(b.profileFile(entry)); err != nil {
			missing = append(missing, fmt.Errorf("file %s of the profile is missing", entry.Path))
		}
	}
	return errors.Join(missing...)
}

// checkBlobs checks that the blobs of an image exist and have their size.
func (b *Bundle) checkBlobs(image Image) error {
	descriptors, err := b.blobs(image)
	if err != nil {
		return err
	}
	for _, descriptor := range descriptors {
		info, err := os.Stat(b.blobFile(descriptor.Digest))
		if err != nil {
			return fmt.Errorf("blob %s is missing", descriptor.Digest)
		}
		if info.Size() != descriptor.Size {
			return fmt.Errorf("blob %s has %d bytes, expected %d", descriptor.Digest, info.Size(), descriptor.Size)
		}
	}
	return nil
}

// blobs returns the descriptors of an image's configuration and layers.
func (b *Bundle) blobs(image Image) ([]v1.Descriptor, error) {
	digest, err := v1.NewHash(image.Digest)
	if err != nil {
		return nil, err
	}
	if err := checkSize(b.blobFile(digest), mostOfManifest); err != nil {
		return nil, err
	}
	content, err := b.layout.Image(digest)
	if err != nil {
		return nil, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	manifest, err := content.Manifest()
	if err != nil {
		return nil, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	return append([]v1.Descriptor{manifest.Config}, manifest.Layers...), nil
}

// blobFile returns the file of a blob, as the OCI image layout specification lays it out.
func (b *Bundle) blobFile(digest v1.Hash) string {
	return filepath.Join(b.Dir, "blobs", digest.Algorithm, digest.Hex)
}

// readManifest reads a manifest and verifies its checksum.
func (b *Bundle) readManifest(entry Manifest) ([]byte, error) {
	content, err := readFile(filepath.Join(b.Dir, filepath.FromSlash(entry.Path)), entry.SHA256)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s of the bundle: %w", oci.Redacted(entry.URL), err)
	}
	return content, nil
}

// readFile reads a file and verifies its checksum.
func readFile(name, checksum string) ([]byte, error) {
	content, err := unpack.File(name, mostOfManifest)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != checksum {
		return nil, fmt.Errorf("the checksum of file %s does not match", name)
	}
	return content, nil
}

// Verify reads the whole bundle and compares every checksum. It takes about a second for each gigabyte.
func (b *Bundle) Verify(ctx context.Context) error {
	seen := map[v1.Hash]bool{}
	for _, image := range b.Index.Images {
		if err := b.verifyImage(ctx, image, seen); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fault.Wrap(fmt.Errorf("image %s: %w", image.Reference, err), fault.BundleInvalid, rebuild)
		}
	}
	for _, entry := range b.Index.Manifests {
		if _, err := b.readManifest(entry); err != nil {
			return fault.Wrap(err, fault.BundleInvalid, rebuild)
		}
	}
	_, err := b.Profile()
	return err
}

// verifyImage reads the manifest, the configuration and the layers of an image, except those in seen.
func (b *Bundle) verifyImage(ctx context.Context, image Image, seen map[v1.Hash]bool) error {
	own, err := v1.NewHash(image.Digest)
	if err != nil {
		return err
	}
	descriptors, err := b.blobs(image)
	if err != nil {
		return err
	}
	for _, descriptor := range append(descriptors, v1.Descriptor{Digest: own}) {
		if seen[descriptor.Digest] {
			continue
		}
		seen[descriptor.Digest] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.verifyBlob(descriptor.Digest); err != nil {
			return err
		}
	}
	return nil
}

// verifyBlob reads one blob and compares its digest.
func (b *Bundle) verifyBlob(digest v1.Hash) error {
	file, err := os.Open(b.blobFile(digest))
	if err != nil {
		return fmt.Errorf("blob %s: %w", digest, err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("read blob %s: %w", digest, err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != digest.Hex {
		return fmt.Errorf("the checksum of blob %s does not match", digest)
	}
	return nil
}
