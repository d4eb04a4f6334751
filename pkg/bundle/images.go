package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// ImageSource holds images by reference: an offline bundle. A missing image is a fault BundleInvalid that names it.
type ImageSource interface {
	Image(reference string) (v1.Image, error)
}

// Engine is the part of the Docker adapter that images are loaded with.
type Engine interface {
	Image(ctx context.Context, reference string) (docker.Image, error)
	Load(ctx context.Context, tar io.Reader) error
}

// errNotRead ends the writer of an image that the engine did not read to its end.
var errNotRead = errors.New("the reader ended early")

// LoadImages loads images into the Docker engine, each under its reference. It skips those that the engine has.
func LoadImages(ctx context.Context, engine Engine, source ImageSource, references []string, report Progress) error {
	t := newTransfer(len(references), report, time.Now)
	for i, reference := range references {
		img, err := source.Image(reference)
		if err != nil {
			return err
		}
		t.begin(i, reference, img)
		if err := loadImage(ctx, engine, reference, img, t); err != nil {
			return err
		}
	}
	t.end()
	return nil
}

func loadImage(ctx context.Context, engine Engine, reference string, img v1.Image, t *transfer) error {
	there, err := engineHas(ctx, engine, reference, img)
	if err != nil || there {
		return err
	}
	tag, err := name.NewTag(reference)
	if err != nil {
		return fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := tarball.Write(tag, oci.Verified(img, t.sent), w)
		w.CloseWithError(err)
		written <- err
	}()
	err = engine.Load(ctx, r)
	r.CloseWithError(errNotRead) // ends the writer if the engine did not read everything
	if failed := <-written; oci.IsCorrupt(failed) {
		return fault.Wrap(fmt.Errorf("image %s: %w", reference, failed), fault.BundleInvalid, rebuild)
	}
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	return nil
}

// engineHas compares the engine's image under a reference with the bundle's: engines identify an image by its config
// or, with containerd's image store, by its manifest.
func engineHas(ctx context.Context, engine Engine, reference string, img v1.Image) (bool, error) {
	have, err := engine.Image(ctx, reference)
	if errors.Is(err, docker.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	config, err := img.ConfigName()
	if err != nil {
		return false, fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	manifest, err := img.Digest()
	if err != nil {
		return false, fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	return have.ID == config.String() || have.ID == manifest.String(), nil
}

// FillRegistry pushes images to the target, each to <prefix>/<its host>/<its repository>:<tag>, where the mirrors of
// oci.BundleMirrors find them. It skips images and blobs that the target has.
func FillRegistry(ctx context.Context, target oci.Target, source ImageSource, references []string,
	report Progress) error {
	t := newTransfer(len(references), report, time.Now)
	for i, reference := range references {
		img, err := source.Image(reference)
		if err != nil {
			return err
		}
		t.begin(i, reference, img)
		if err := mirrorImage(ctx, target, reference, img, t); err != nil {
			return err
		}
	}
	t.end()
	return nil
}

func mirrorImage(ctx context.Context, target oci.Target, reference string, img v1.Image, t *transfer) error {
	original, err := name.ParseReference(reference)
	if err != nil {
		return fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	repo, err := target.Repository(oci.MirrorPath(original))
	if err != nil {
		return err
	}
	var ref name.Reference = repo.Tag(original.Identifier())
	if _, ok := original.(name.Digest); ok {
		ref = repo.Digest(original.Identifier())
	}
	digest, err := img.Digest()
	if err != nil {
		return fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	err = target.Write(ctx, ref, digest, oci.Verified(img, t.sent))
	if oci.IsCorrupt(err) {
		return fault.Wrap(fmt.Errorf("image %s: %w", reference, err), fault.BundleInvalid, rebuild)
	}
	return err
}
