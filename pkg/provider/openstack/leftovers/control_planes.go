package leftovers

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// ControlPlanes returns the servers that may be control-plane machines of the cluster: all that are proven, or may be
// the cluster's, or have a name in known, and are no workers and no bastion for certain. A missing mark never makes a
// server a worker.
func (c Cluster) ControlPlanes(inventory openstack.Inventory, known provider.Roles) []openstack.Resource {
	j := c.judge(inventory)
	j.take(c.proves)
	var found []openstack.Resource
	for _, r := range inventory.Resources {
		if r.Kind != openstack.KindServer || !j.here(r) {
			continue
		}
		sure := j.isServer(r)
		may := slices.Contains(known.ControlPlanes, r.Name) ||
			c.claimedBy(r) == "" && (sure == proven || sure == possible) && !j.hasOtherRole(r, known)
		if may {
			found = append(found, r)
		}
	}
	return found
}

// hasOtherRole reports whether a server is a worker or a bastion, and has no mark of a control-plane machine.
func (j *judge) hasOtherRole(server openstack.Resource, known provider.Roles) bool {
	name := j.cluster.resourceName()
	group := func(role string) openstack.Ref {
		return j.named(openstack.KindSecurityGroup, "k8s-cluster-"+name+"-secgroup-"+role)
	}
	switch {
	case j.uses(server, group("controlplane")),
		j.uses(server, j.named(openstack.KindServerGroup, name+"-control-plane")):
		return false
	case j.uses(server, group("worker")), j.uses(server, j.named(openstack.KindServerGroup, name+"-workers")),
		j.uses(server, group("bastion")):
		return true
	}
	return slices.Contains(known.Workers, server.Name)
}

// named returns the resource of a name in the project; zero if there is none.
func (j *judge) named(kind openstack.Kind, name string) openstack.Ref {
	for _, r := range j.Resources {
		if r.Kind == kind && r.Name == name && j.here(r) {
			return r.Ref
		}
	}
	return openstack.Ref{}
}

// uses reports whether a server or one of its ports uses a resource, which may be zero.
func (j *judge) uses(server openstack.Resource, used openstack.Ref) bool {
	if used == (openstack.Ref{}) {
		return false
	}
	return slices.Contains(server.Uses, used) || slices.ContainsFunc(j.Resources, func(r openstack.Resource) bool {
		return r.Kind == openstack.KindPort && r.PartOf == server.Ref && slices.Contains(r.Uses, used)
	})
}
