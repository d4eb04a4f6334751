package leftovers

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const csiProperty = "cinder.csi.openstack.org/cluster"

// Names that Cluster API's provider for OpenStack (v0.14.7, pkg/cloud/services and pkg/utils/names) and the cloud
// controller manager (v1.36.0, pkg/openstack/loadbalancer.go and loadbalancer_sg.go) give. Only whole names count: one
// cluster's may begin like another's.
const (
	capoDescription = "Created by cluster-api-provider-openstack cluster "
	capoPrefix      = "k8s-clusterapi-cluster-"
	servicePrefix   = "kube_service_"
)

// proves returns why a resource belongs to the cluster by its own fields. Empty means they do not prove it.
func (c Cluster) proves(r openstack.Resource) string {
	name := c.resourceName()
	switch {
	case slices.Contains(r.Tags, owned.Tag(name)):
		return "tag " + owned.Tag(name)
	case (r.Kind == openstack.KindFloatingIP || r.Kind == openstack.KindPort) &&
		r.Description == owned.AddressDescription(name):
		return "description " + r.Description
	// Descriptions of ports and trunks name the cluster without its namespace: it may be another cluster of this name.
	case r.Description == capoDescription+name && r.Kind != openstack.KindPort && r.Kind != openstack.KindTrunk:
		return "description " + r.Description
	case c.provesName(r):
		return "name " + r.Name
	}
	switch r.Kind {
	case openstack.KindLoadBalancer, openstack.KindFloatingIP:
		if strings.Contains(r.Description, "Kubernetes external service ") &&
			strings.HasSuffix(r.Description, " from cluster "+name) {
			return "description " + r.Description
		}
	case openstack.KindSecurityGroup:
		if strings.HasPrefix(r.Description, "Security Group for ") &&
			strings.HasSuffix(r.Description, " Service LoadBalancer in cluster "+name) {
			return "description " + r.Description
		}
	case openstack.KindVolume, openstack.KindSnapshot:
		if r.Properties[csiProperty] == name {
			return "property " + csiProperty + "=" + name
		}
	}
	return ""
}

func (c Cluster) provesName(r openstack.Resource) bool {
	name := c.resourceName()
	switch r.Kind {
	case openstack.KindNetwork, openstack.KindSubnet, openstack.KindRouter:
		return r.Name == capoPrefix+name
	case openstack.KindLoadBalancer: // the names of Kubernetes' objects have no underscore
		return r.Name == capoPrefix+name+"-kubeapi" || strings.HasPrefix(r.Name, servicePrefix+name+"_")
	case openstack.KindSecurityGroup:
		group, is := strings.CutPrefix(r.Name, "k8s-cluster-"+name+"-secgroup-")
		return is && slices.Contains([]string{"controlplane", "worker", "bastion"}, group)
	case openstack.KindServerGroup: // by our own components, through ORC, which cannot tag them
		return r.Name == name+"-control-plane" || r.Name == name+"-workers"
	}
	return false
}

// claimedBy returns the other cluster that a resource's own fields name, or "".
func (c Cluster) claimedBy(r openstack.Resource) string {
	own := c.resourceName()
	for _, tag := range r.Tags {
		if other, is := owned.CloudNameOfTag(tag); is && other != own {
			return other
		}
		if r.Kind == openstack.KindLoadBalancer && strings.HasPrefix(tag, servicePrefix) &&
			!strings.HasPrefix(tag, servicePrefix+own+"_") {
			return strings.TrimPrefix(tag, servicePrefix) // a load balancer that Services of several clusters share
		}
	}
	if other, is := owned.CloudNameOfAddress(r.Description); is && other != own {
		return other
	}
	if other := r.Properties[csiProperty]; other != "" && other != own {
		return other
	}
	for _, opening := range []string{capoDescription, " from cluster ", " Service LoadBalancer in cluster "} {
		_, other, says := strings.Cut(r.Description, opening)
		if says && other != own && !(opening == capoDescription && other == c.Name) { // ports name the cluster only
			return other
		}
	}
	return ""
}

// looksAlike reports whether a hurried person would take a resource for the cluster's: its name or a mark contains the
// cluster's name.
func (c Cluster) looksAlike(r openstack.Resource) bool {
	texts := append([]string{r.Name, r.Description, r.Properties[csiProperty]}, r.Tags...)
	return strings.HasPrefix(r.Name, c.Name+"-") ||
		slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, c.resourceName()) })
}
