package leftovers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Servers returns the cluster's servers, with our tag or without: a user's own definition need not have it. It fails
// with fault.ClusterUnreachable if none is proven, and one may belong to the cluster or to one of the same name in
// another namespace.
func (c Cluster) Servers(inventory openstack.Inventory) ([]openstack.Resource, error) {
	j := c.judge(inventory)
	j.take(c.proves)
	var ours []openstack.Resource
	unsure := ""
	for _, r := range inventory.Resources {
		if r.Kind != openstack.KindServer || !j.here(r) || c.claimedBy(r) != "" {
			continue
		}
		switch j.isServer(r) {
		case proven:
			ours = append(ours, r)
		case possible:
			unsure = r.Title()
		}
	}
	if len(ours) > 0 || unsure == "" {
		return ours, nil
	}
	return nil, fault.New(fault.ClusterUnreachable,
		fmt.Sprintf("server %s may be a machine of %s/%s: its port belongs to a cluster %s of an unknown "+
			"namespace", unsure, c.Namespace, c.Name, c.Name),
		fmt.Sprintf("If it is, set --kubeconfig to the kubeconfig of that cluster, or tag the server: openstack "+
			"--os-compute-api-version 2.26 server set --tag %s %s. "+
			"If it is of another namespace, give this cluster another name with --set cluster.name=NAME.",
			oneline.Shell(owned.Tag(c.resourceName())), oneline.Shell(unsure)))
}

// certainty is the degree of proof that a server belongs to the cluster.
type certainty int

const (
	unsaid   certainty = iota
	possible           // the cluster's, or that of one with the same name in another namespace
	another            // another cluster's
	proven
)

// isServer judges a server that no other cluster's tag claims. The provider puts only the cluster's tags on servers.
// Its ports carry the cluster's name. A name alone proves nothing: another cluster's may begin with it.
func (j *judge) isServer(server openstack.Resource) certainty {
	if j.owned[server.Ref] != "" {
		return proven
	}
	best := unsaid
	for _, used := range server.Uses {
		if used.Kind == openstack.KindServerGroup && j.owned[used] != "" {
			return proven
		}
	}
	for _, r := range j.Resources {
		if r.Kind == openstack.KindPort && r.PartOf == server.Ref {
			best = max(best, j.isServerPort(r))
		}
	}
	return best
}

// isServerPort judges the server of a port by the port's description, by what it uses and by what leads to it.
func (j *judge) isServerPort(port openstack.Resource) certainty {
	reached := func(r openstack.Resource) bool {
		return r.Kind == openstack.KindFloatingIP && j.owned[r.Ref] != "" && slices.Contains(r.Uses, port.Ref)
	}
	switch {
	case j.owned[port.Ref] != "" || slices.ContainsFunc(j.Resources, reached):
		return proven
	case port.Description != capoDescription+j.cluster.Name: // a user's server may be on the cluster's network
		return unsaid
	}
	best := possible
	for _, used := range port.Uses {
		switch {
		case !slices.Contains([]openstack.Kind{openstack.KindNetwork, openstack.KindSubnet,
			openstack.KindSecurityGroup}, used.Kind):
		case j.owned[used] != "":
			return proven
		case j.ofAnother(j.byRef[used]):
			best = another
		}
	}
	return best
}

// ofAnother reports whether a network, a subnet or a security group belongs to another cluster.
func (j *judge) ofAnother(r openstack.Resource) bool {
	group := strings.HasPrefix(r.Name, "k8s-cluster-") && strings.Contains(r.Name, "-secgroup-")
	return j.cluster.claimedBy(r) != "" || strings.HasPrefix(r.Name, capoPrefix) ||
		r.Kind == openstack.KindSecurityGroup && group
}
