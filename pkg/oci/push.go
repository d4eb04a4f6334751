package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Push sends an artifact to a path below the target, unless that tag has that digest already. An invalid prefix is a
// fault Usage, a registry that does not accept it a fault SourceUnreadable.
func (t Target) Push(ctx context.Context, path, tag string, img v1.Image) (Artifact, error) {
	repo, err := t.Repository(path)
	if err != nil {
		return Artifact{}, fault.Wrap(err, fault.Usage, "Name the OCI registry as HOST[:PORT][/PATH].")
	}
	digest, err := img.Digest()
	if err != nil {
		return Artifact{}, err
	}
	pushed := Artifact{Repository: repo.Name(), Tag: tag, Digest: digest.String()}
	return pushed, t.Write(ctx, repo.Tag(tag), digest, img)
}

// Write sends an image to a reference, unless that has the image's digest already. Its errors are faults
// SourceUnreadable, except for a corrupt blob of a Verified image: see IsCorrupt.
func (t Target) Write(ctx context.Context, ref name.Reference, digest v1.Hash, img v1.Image) error {
	options := append(t.options(), remote.WithContext(ctx))
	if there, err := hasDigest(ref, digest, options); err != nil || there {
		return wrapPush(ref, err)
	}
	err := remote.Write(ref, img, options...)
	if IsCorrupt(err) { // the registry is not the problem
		return err
	}
	return wrapPush(ref, err)
}

// HasLayer reports whether a tag below the target names an artifact with a layer of that digest (sha256:...).
func (t Target) HasLayer(ctx context.Context, path, tag, digest string) (bool, error) {
	repo, err := t.Repository(path)
	if err != nil {
		return false, fault.Wrap(err, fault.Usage, "Name the OCI registry as HOST[:PORT][/PATH].")
	}
	ref := repo.Tag(tag)
	img, err := remote.Image(ref, append(t.options(), remote.WithContext(ctx))...)
	if isNotFound(err) {
		return false, nil
	}
	var manifest *v1.Manifest
	if err == nil {
		manifest, err = img.Manifest()
	}
	if err != nil {
		return false, Unreadable(fmt.Errorf("look for %s: %w", ref.Name(), WithoutURL(err)))
	}
	return slices.ContainsFunc(manifest.Layers, func(l v1.Descriptor) bool { return l.Digest.String() == digest }), nil
}

// isNotFound reports whether the registry says that it has no such thing.
func isNotFound(err error) bool {
	answer, ok := errors.AsType[*transport.Error](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// hasDigest reports whether the registry has the reference with that digest.
func hasDigest(ref name.Reference, digest v1.Hash, options []remote.Option) (bool, error) {
	head, err := remote.Head(ref, options...)
	if err == nil {
		return head.Digest == digest, nil
	}
	if isNotFound(err) {
		return false, nil
	}
	return false, err
}

func wrapPush(ref name.Reference, err error) error {
	if err == nil {
		return nil
	}
	return Unreadable(fmt.Errorf("push %s: %w", ref.Name(), WithoutURL(err)))
}
