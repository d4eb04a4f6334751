package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cluster-init/cluster-init/pkg/fault"
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
	var raw []struct {
		ID                    string `json:"Id"`
		RepoTags, RepoDigests []string
	}
	if err := json.Unmarshal([]byte(out), &raw); err != nil || len(raw) != 1 {
		return Image{}, fault.Wrap(fmt.Errorf("inspect image %s: unexpected answer of %d objects: %v",
			reference, len(raw), err), fault.DockerFailed, "")
	}
	return Image{ID: raw[0].ID, Tags: raw[0].RepoTags, RepoDigests: raw[0].RepoDigests}, nil
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
