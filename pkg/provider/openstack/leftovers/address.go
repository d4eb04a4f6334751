package leftovers

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Tag is the tag of the cluster's resources.
func (c Cluster) Tag() string { return owned.Tag(c.resourceName()) }

// AddressDescription is the description of the floating IP that is made for the cluster's API server.
func (c Cluster) AddressDescription() string { return owned.AddressDescription(c.resourceName()) }

// OwnsAddress reports whether a floating IP was made by cluster-init for the cluster's API server: by its description,
// or by its tag. Those that Cluster API's provider made have the tag too, and that provider's description.
func (c Cluster) OwnsAddress(ip openstack.Resource) bool {
	ours := ip.Description == c.AddressDescription() || slices.Contains(ip.Tags, c.Tag()) &&
		!strings.HasPrefix(ip.Description, capoDescription)
	return ours && c.claimedBy(ip) == ""
}

// ProviderOwnsAddress reports whether Cluster API's provider made a floating IP for the cluster's API server.
func (c Cluster) ProviderOwnsAddress(ip openstack.Resource) bool {
	return ip.Description == capoDescription+c.resourceName() && c.claimedBy(ip) == ""
}

// MayOwnPort reports whether a port may be that of a machine of the cluster. Its description names the cluster without
// its namespace.
func (c Cluster) MayOwnPort(port openstack.Resource) bool {
	return slices.Contains(port.Tags, c.Tag()) || port.Description == capoDescription+c.Name && c.claimedBy(port) == ""
}
