package bundle

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// Unpinned returns none of urls: the bundle's index has the digest of each of its files.
func (b *Bundle) Unpinned([]string) []string { return nil }

// Fetch returns the bundle's copy of what is at url, without the network. A missing file is a fault BundleInvalid.
func (b *Bundle) Fetch(_ context.Context, url string) ([]byte, error) {
	data, found, err := b.Manifest(url)
	if err == nil && !found {
		err = fault.New(fault.BundleInvalid, "the bundle does not contain "+oci.Redacted(url)+
			": it is incomplete or of another version", rebuild)
	}
	return data, err
}
