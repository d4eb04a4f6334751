package oci

import (
	"context"
	"errors"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"golang.org/x/sync/errgroup"
)

// The limits of ServedAll: the time for one image, and the number of images at once.
const (
	imageBound   = 20 * time.Second
	imagesAtOnce = 6
)

// ServedAll checks images in parallel with Served. missing are the errors of images that are not served, notChecked
// are images that cannot be checked.
func ServedAll(ctx context.Context, images []string, mirrors []Mirror, ca string, keys authn.Keychain) (
	missing []error, notChecked []string) {
	errs := make([]error, len(images))
	var requests errgroup.Group // none of them fails
	requests.SetLimit(imagesAtOnce)
	for i, image := range images {
		requests.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, imageBound)
			defer cancel()
			errs[i] = Served(ctx, image, mirrors, ca, keys)
			return nil
		})
	}
	_ = requests.Wait()
	for i, err := range errs {
		switch {
		case errors.Is(err, ErrNotSupported):
			notChecked = append(notChecked, images[i])
		case err != nil:
			missing = append(missing, err)
		}
	}
	return missing, notChecked
}
