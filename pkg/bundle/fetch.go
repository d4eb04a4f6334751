package bundle

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// Unpinned returns none of urls: the bundle's index has the digest of each file that it holds.
func (b *Bundle) Unpinned([]string) []string { return nil }

// Fetch returns the bundle's copy of what is at url; nothing is asked of the network. A file that the bundle lacks is a
// fault BundleInvalid.
func (b *Bundle) Fetch(_ context.Context, url string) ([]byte, error) {
	data, found, err := b.Manifest(url)
	if err == nil && !found {
		err = fault.New(fault.BundleInvalid, "the bundle does not hold "+oci.Redacted(url)+
			": it is incomplete, or of another version", rebuild)
	}
	return data, err
}
