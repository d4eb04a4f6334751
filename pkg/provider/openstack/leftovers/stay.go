package leftovers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// findStaying finds owned resources that cannot be deleted: another owner's resource needs them, or may need them, or
// what uses them stays.
func (j *judge) findStaying() {
	for _, r := range j.Resources {
		if _, owned := j.owned[r.Ref]; !owned {
			j.keepFor(r)
		} else if r.Kind == openstack.KindFloatingIP {
			j.keepInUse(r)
		}
	}
	for _, r := range j.Resources {
		for _, kind := range mustBeKnown(r.Kind) {
			if why := j.Unknown[kind]; why != nil {
				j.keep(r.Ref, fmt.Sprintf("it is not known which %ss there are: %v", kind, why))
			}
		}
	}
}

// keepFor keeps what a resource that is not owned needs.
func (j *judge) keepFor(r openstack.Resource) {
	// A floating IP needs only its port. If that port is owned, the floating IP is released.
	if r.Kind == openstack.KindFloatingIP || j.ofOctavia(r) {
		return
	}
	reason := fmt.Sprintf("%s, which is not the cluster's, uses it", j.called(r))
	for _, used := range r.Uses {
		j.keep(used, reason)
	}
	if r.PartOf.Kind == openstack.KindServer && r.Kind == openstack.KindVolume {
		j.keep(r.PartOf, fmt.Sprintf("%s, which is not the cluster's, would be deleted with it", j.called(r)))
	}
}

// keepInUse keeps an owned floating IP that another owner's server has: a deletion would cut that server off. The
// cluster's own port may outlive its server, which is then not listed.
func (j *judge) keepInUse(ip openstack.Resource) {
	for _, used := range ip.Uses {
		server := j.byRef[used].PartOf
		_, ownsServer := j.owned[server]
		_, ownsPort := j.owned[used]
		_, listed := j.byRef[server]
		if used.Kind == openstack.KindPort && server.Kind == openstack.KindServer && !ownsServer &&
			(listed || !ownsPort || j.Unknown[openstack.KindServer] != nil) {
			j.keep(ip.Ref, fmt.Sprintf("%s, which is not the cluster's, has it", j.called(j.byRef[used])))
		}
	}
}

// ofOctavia reports whether Octavia's own project made a port for a load balancer: it is deleted with that one.
func (j *judge) ofOctavia(r openstack.Resource) bool {
	return r.Kind == openstack.KindPort && r.Project != j.Project && strings.HasPrefix(r.Name, "octavia-lb-vrrp-")
}

// keep keeps a resource, if it is owned, and all that it uses.
func (j *judge) keep(ref openstack.Ref, reason string) {
	_, owned := j.owned[ref]
	if _, already := j.stays[ref]; already || !owned {
		return
	}
	j.stays[ref] = reason
	for _, used := range j.byRef[ref].Uses {
		j.keep(used, reason)
	}
}

// called names a resource, and the resource that it is part of.
func (j *judge) called(r openstack.Resource) string {
	text := j.titled(r.Ref)
	if _, found := j.byRef[r.PartOf]; found {
		return text + " of " + j.titled(r.PartOf)
	}
	return text
}

// mustBeKnown are the kinds that must be listed to know whether a resource of this kind is in use.
func mustBeKnown(kind openstack.Kind) []openstack.Kind {
	switch kind {
	case openstack.KindVolume:
		return []openstack.Kind{openstack.KindServer, openstack.KindSnapshot}
	case openstack.KindServerGroup:
		return []openstack.Kind{openstack.KindServer}
	case openstack.KindServer: // its deletion may delete volumes
		return []openstack.Kind{openstack.KindVolume}
	case openstack.KindPort: // those of load balancers name their owner; a port may prove a volume
		return []openstack.Kind{openstack.KindServer, openstack.KindTrunk, openstack.KindVolume}
	case openstack.KindTrunk:
		return []openstack.Kind{openstack.KindServer, openstack.KindPort}
	case openstack.KindInterface:
		return []openstack.Kind{openstack.KindSubnet, openstack.KindRouter}
	case openstack.KindRouter, openstack.KindSubnet:
		return []openstack.Kind{openstack.KindPort}
	case openstack.KindNetwork:
		return []openstack.Kind{openstack.KindPort, openstack.KindSubnet}
	case openstack.KindSecurityGroup:
		return []openstack.Kind{openstack.KindPort}
	}
	return nil
}

// leftAlone returns why a resource that is not owned is worth reporting. Empty means it has nothing to do with the
// cluster.
func (j *judge) leftAlone(r openstack.Resource) string {
	other := j.cluster.claimedBy(r)
	for _, used := range append([]openstack.Ref{r.PartOf}, r.Uses...) {
		if _, owned := j.owned[used]; !owned {
			continue
		}
		if other != "" {
			return fmt.Sprintf("uses %s, but is marked as that of cluster %s", j.titled(used), other)
		}
		return fmt.Sprintf("uses %s, but nothing proves that the cluster made it", j.titled(used))
	}
	if neighbor := j.near(r); neighbor != "" {
		return neighbor + ", but nothing proves that the cluster made it"
	}
	switch {
	case !j.cluster.looksAlike(r):
		return ""
	case other != "":
		return "is marked as that of cluster " + other
	}
	return "its name is like one of the cluster's, but nothing proves that the cluster made it"
}

// near reports a volume or a server group that a server of the cluster uses, and a server on a network of the cluster.
func (j *judge) near(r openstack.Resource) string {
	for _, other := range j.Resources {
		_, owned := j.owned[other.Ref]
		switch {
		case owned && (r.Kind == openstack.KindVolume || r.Kind == openstack.KindServerGroup) &&
			slices.Contains(other.Uses, r.Ref):
			return j.titled(other.Ref) + " uses it"
		case owned && r.Kind == openstack.KindServer && other.Kind == openstack.KindNetwork && j.reaches(r, other.Ref):
			return "is on " + j.titled(other.Ref)
		}
	}
	return ""
}

// reaches reports whether a port of the server is on the network.
func (j *judge) reaches(server openstack.Resource, network openstack.Ref) bool {
	return slices.ContainsFunc(server.Uses,
		func(port openstack.Ref) bool { return slices.Contains(j.byRef[port].Uses, network) })
}
