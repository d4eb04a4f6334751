package leftovers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Tag is the tag of the cluster's resources.
func (c Cluster) Tag() string { return owned.Tag(c.resourceName()) }

// AddressDescription is the description of the floating IP that is made for the cluster's API server, and of the port
// that reserves its virtual address.
func (c Cluster) AddressDescription() string { return owned.AddressDescription(c.resourceName()) }

// AddressName is the name of that port, for people.
func (c Cluster) AddressName() string { return c.resourceName() + "-api-server" }

// OwnsAddress reports whether a floating IP, or a port without device, was made by cluster-init for the cluster's API
// server: by its description, or by its tag. Those that Cluster API's provider made have the tag too, and that
// provider's description.
func (c Cluster) OwnsAddress(r openstack.Resource) bool {
	ours := r.Description == c.AddressDescription() || slices.Contains(r.Tags, c.Tag()) && !MadeByProvider(r)
	return ours && c.claimedBy(r) == ""
}

// MadeByProvider reports whether Cluster API's provider made a resource, for whichever cluster.
func MadeByProvider(r openstack.Resource) bool {
	return strings.HasPrefix(r.Description, capoDescription)
}

// ClaimedBy returns the other cluster that a resource's marks name. Empty means that they name none.
func (c Cluster) ClaimedBy(r openstack.Resource) string { return c.claimedBy(r) }

// ProviderOwnsAddress reports whether Cluster API's provider made a floating IP for the cluster's API server.
func (c Cluster) ProviderOwnsAddress(ip openstack.Resource) bool {
	return ip.Description == capoDescription+c.resourceName() && c.claimedBy(ip) == ""
}

// MayOwnPort reports whether a port may be that of a machine of the cluster. Its description names the cluster without
// its namespace.
func (c Cluster) MayOwnPort(port openstack.Resource) bool {
	return slices.Contains(port.Tags, c.Tag()) || port.Description == capoDescription+c.Name && c.claimedBy(port) == ""
}

// ControlPlanePort returns the youngest running control-plane machine of joined and its port: one that is about to be
// replaced is older. Nil means any machine. The provider gives the ports of control-plane machines a security group of
// their own. A zero port means that there is none.
func (c Cluster) ControlPlanePort(has openstack.Inventory, joined []string) (server, port openstack.Resource) {
	all := byRef(has)
	for _, r := range has.Resources {
		of := all[r.PartOf]
		if !c.isPortOfServer(all, r) || of.Status != "ACTIVE" || joined != nil && !slices.Contains(joined, of.Name) ||
			!c.isControlPlane(all, r) {
			continue
		}
		if port.ID == "" || cmp.Or(of.Created.Compare(server.Created), cmp.Compare(server.Name, of.Name),
			cmp.Compare(port.Name, r.Name)) > 0 {
			server, port = of, r
		}
	}
	return server, port
}

// PortOf returns a server of the cluster, whatever its status, and the port that an address is to lead to: the one with
// the security group of control-plane machines, or its only one. A zero port means that it is not known.
func (c Cluster) PortOf(has openstack.Inventory, name string) (server, port openstack.Resource) {
	all := byRef(has)
	count := 0
	for _, r := range has.Resources {
		if !c.isPortOfServer(all, r) || all[r.PartOf].Name != name {
			continue
		}
		if c.isControlPlane(all, r) {
			return all[r.PartOf], r
		}
		server, port = all[r.PartOf], r
		count++
	}
	if count > 1 {
		return server, openstack.Resource{}
	}
	return server, port
}

func byRef(has openstack.Inventory) map[openstack.Ref]openstack.Resource {
	all := map[openstack.Ref]openstack.Resource{}
	for _, r := range has.Resources {
		all[r.Ref] = r
	}
	return all
}

// isPortOfServer reports whether a port may be the cluster's, and a server has it.
func (c Cluster) isPortOfServer(all map[openstack.Ref]openstack.Resource, port openstack.Resource) bool {
	return port.Kind == openstack.KindPort && all[port.PartOf].Kind == openstack.KindServer && c.MayOwnPort(port)
}

// isControlPlane reports whether a port has the security group that the provider gives those of control-plane machines.
func (c Cluster) isControlPlane(all map[openstack.Ref]openstack.Resource, port openstack.Resource) bool {
	return slices.ContainsFunc(port.Uses, func(used openstack.Ref) bool {
		return used.Kind == openstack.KindSecurityGroup &&
			all[used].Name == "k8s-cluster-"+c.resourceName()+"-secgroup-controlplane"
	})
}
