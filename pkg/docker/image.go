package docker

import (
	"context"
	"fmt"
	"io"
)

// Image is the result of inspect for one image.
type Image struct {
	// ID is the digest of the image's config, or of its manifest when the engine uses containerd's image store.
	ID          string
	Tags        []string
	RepoDigests []string
}

// Image returns the image of a reference. The error is ErrNotFound if there is none.
func (c *Client) Image(ctx context.Context, reference string) (Image, error) {
	out, err := c.output(ctx, "image", "inspect", reference)
	if err != nil {
		return Image{}, fmt.Errorf("inspect image %s: %w", reference, err)
	}
	raw, err := decodeSingle[struct {
		ID                    string `json:"Id"`
		RepoTags, RepoDigests []string
	}](out)
	if err != nil {
		return Image{}, fmt.Errorf("inspect image %s: %w", reference, err)
	}
	return Image{ID: raw.ID, Tags: raw.RepoTags, RepoDigests: raw.RepoDigests}, nil
}

// ImageExists reports whether the engine has an image of that reference.
func (c *Client) ImageExists(ctx context.Context, reference string) (bool, error) {
	_, err := c.Image(ctx, reference)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Load loads the images of a `docker save` tar stream into the engine.
func (c *Client) Load(ctx context.Context, tar io.Reader) error {
	if err := c.run(ctx, call{args: []string{"load", "--quiet"}, stdin: tar}); err != nil {
		return fmt.Errorf("load images: %w", err)
	}
	return nil
}

// RemoveImage removes an image reference. A missing one is no error.
func (c *Client) RemoveImage(ctx context.Context, reference string) error {
	if _, err := c.output(ctx, "image", "rm", reference); err != nil && !isNotFound(err) {
		return fmt.Errorf("remove image %s: %w", reference, err)
	}
	return nil
}
