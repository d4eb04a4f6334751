package leftovers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// judge compares each resource of a project with the cluster.
type judge struct {
	cluster Cluster
	openstack.Inventory
	byRef map[openstack.Ref]openstack.Resource
	owned map[openstack.Ref]string // with the proof
	stays map[openstack.Ref]string // of owned resources that cannot be deleted, with the reason
	// evidence are the ports that prove a volume, and that the volume therefore uses.
	evidence map[openstack.Ref][]openstack.Ref
}

// judge returns a judge that owns nothing yet.
func (c Cluster) judge(inventory openstack.Inventory) *judge {
	j := &judge{cluster: c, Inventory: inventory, byRef: map[openstack.Ref]openstack.Resource{},
		owned: map[openstack.Ref]string{}, stays: map[openstack.Ref]string{},
		evidence: map[openstack.Ref][]openstack.Ref{}}
	for _, r := range inventory.Resources {
		j.byRef[r.Ref] = r
	}
	return j
}

// titled names a resource for people: by its kind and its name, or its ID.
func (j *judge) titled(ref openstack.Ref) string {
	return fmt.Sprintf("%s %s", ref.Kind, cmp.Or(j.byRef[ref].Name, ref.ID))
}

// found compares everything in a project with the cluster.
func (c Cluster) found(inventory openstack.Inventory) provider.Found {
	j := c.judge(inventory)
	j.findOwned()
	j.findEvidence()
	j.findStaying()
	return j.found()
}

// findOwned first takes resources that prove their owner themselves, then those that are attached to them.
func (j *judge) findOwned() {
	j.take(j.cluster.proves)
	j.take(j.hangs) // interfaces, ports of servers and load balancers, volumes of servers
	j.take(j.hangs) // and volumes whose server is known only by such a port, trunks of such ports
}

func (j *judge) take(proof func(openstack.Resource) string) {
	for _, r := range j.Resources {
		_, already := j.owned[r.Ref]
		if already || !j.here(r) || j.cluster.claimedBy(r) != "" {
			continue
		}
		if p := proof(r); p != "" {
			j.owned[r.Ref] = p
		}
	}
}

// here reports whether a resource is in the project: the inventory also has foreign ports on its networks.
func (j *judge) here(r openstack.Resource) bool { return r.Project == "" || r.Project == j.Project }

// hangs returns why a resource belongs to one that is owned already.
func (j *judge) hangs(r openstack.Resource) string {
	_, partOfOwned := j.owned[r.PartOf]
	whole := "part of " + j.titled(r.PartOf)
	switch r.Kind {
	case openstack.KindInterface:
		return j.routing(r)
	case openstack.KindPort:
		if partOfOwned {
			return whole
		}
		return j.abandonedPort(r)
	case openstack.KindVolume:
		if partOfOwned {
			return whole + ", and deleted with it"
		}
		return j.rootVolume(r)
	case openstack.KindTrunk:
		if partOfOwned {
			return whole
		}
	}
	return ""
}

// routing proves an interface of the cluster's router, or of a user's router that the provider connected to the
// cluster's subnet. An interface in a foreign subnet serves that subnet.
func (j *judge) routing(r openstack.Resource) string {
	cluster := false
	for _, used := range r.Uses {
		if used.Kind == openstack.KindSubnet && j.owned[used] == "" {
			return ""
		}
		cluster = cluster || used.Kind == openstack.KindSubnet
	}
	router := j.byRef[r.PartOf].Name
	given := j.cluster.Router != "" && (router == j.cluster.Router || r.PartOf.ID == j.cluster.Router)
	switch {
	case j.owned[r.PartOf] != "":
		return "part of " + j.titled(r.PartOf)
	case cluster && given:
		return "of the cluster's subnet, at the router that the environment names"
	}
	return ""
}

// abandonedPort proves a port that the provider made and did not attach to its server, or did not delete: it has a
// network or a security group of the cluster, and its name and description, which names the cluster without its
// namespace.
func (j *judge) abandonedPort(r openstack.Resource) string {
	described := r.Description == capoDescription+j.cluster.Name
	if !described || r.PartOf != (openstack.Ref{}) || !strings.HasPrefix(r.Name, j.cluster.Name+"-") {
		return ""
	}
	for _, used := range r.Uses {
		if (used.Kind == openstack.KindNetwork || used.Kind == openstack.KindSecurityGroup) && j.owned[used] != "" {
			return "name and description, of " + j.titled(used)
		}
	}
	return ""
}

// findEvidence adds to each volume's uses the ports that prove it, so that the volume is deleted first. Otherwise, if
// this run were killed between the two, the next one could no longer prove the volume.
func (j *judge) findEvidence() {
	for i, r := range j.Resources {
		server := volumeServer(r)
		if _, owned := j.owned[r.Ref]; !owned || server == "" {
			continue
		}
		for _, port := range j.Resources {
			if _, owned := j.owned[port.Ref]; owned && port.Kind == openstack.KindPort && isPortOf(port.Name, server) {
				r.Uses, j.evidence[r.Ref] = append(slices.Clip(r.Uses), port.Ref), append(j.evidence[r.Ref], port.Ref)
			}
		}
		j.Resources[i], j.byRef[r.Ref] = r, r
	}
}

// rootVolume proves a volume that the provider made for a server: description and name contain the server's name. The
// server may be known only by its port, which is made before the volume and deleted after it.
func (j *judge) rootVolume(r openstack.Resource) string {
	server := volumeServer(r)
	if server == "" {
		return ""
	}
	proof := ""
	for _, other := range j.Resources {
		isServer := other.Kind == openstack.KindServer && other.Name == server
		isPort := other.Kind == openstack.KindPort && isPortOf(other.Name, server)
		_, owned := j.owned[other.Ref]
		if (isServer || isPort) && !owned {
			return "" // another server has that name
		}
		if isServer || isPort {
			proof = "name and description, of server " + server
		}
	}
	return proof
}

// volumeServer returns the name of the server that the provider made a volume for, by name and description. Empty means
// it is not such a volume.
func volumeServer(r openstack.Resource) string {
	if r.Kind != openstack.KindVolume {
		return ""
	}
	server, is := strings.CutPrefix(r.Description, "Root volume for ")
	if !is {
		server, is = strings.CutPrefix(r.Description, "Additional block device for ")
	}
	if !is || server == "" || !strings.HasPrefix(r.Name, server+"-") {
		return ""
	}
	return server
}

// isPortOf reports whether the provider would give a port of that server this name: <server>-<index>.
func isPortOf(port, server string) bool {
	index, is := strings.CutPrefix(port, server+"-")
	return is && index != "" && strings.Trim(index, "0123456789") == ""
}

func (j *judge) found() provider.Found {
	f := provider.Found{Listed: map[string]bool{}}
	for _, kind := range slices.Sorted(maps.Keys(j.Unknown)) {
		f.Unknown = append(f.Unknown, unlisted(kind, j.Unknown[kind]))
	}
	for _, r := range j.Resources {
		f.Listed[r.ID] = true
		proof, owned := j.owned[r.Ref]
		reason, stays := j.stays[r.Ref]
		switch {
		case stays:
			f.Stays = append(f.Stays, j.item(r, reason))
		case owned:
			f.Delete = append(f.Delete, j.item(r, proof))
		default:
			if why := j.leftAlone(r); why != "" {
				f.LeftAlone = append(f.LeftAlone, leftover(r, why))
			}
		}
	}
	return f
}

func unlisted(kind openstack.Kind, why error) provider.Unlisted {
	u := provider.Unlisted{Kind: string(kind), Why: why}
	switch kind {
	case openstack.KindServer:
		u.Machines = true
	case openstack.KindPort:
		// Nova omits servers of a cell that is down: only the ports show that some are missing.
		u.Machines, u.Covers = true, []string{string(openstack.KindInterface)}
	}
	return u
}

// item is a resource of the cluster with its parent, and with what cannot be deleted before it. Security groups use
// each other in a cycle, so a resource never waits for one of its own kind.
func (j *judge) item(r openstack.Resource, proof string) provider.Leftover {
	l := leftover(r, proof)
	parent := r.PartOf
	if parent == (openstack.Ref{}) {
		for _, used := range r.Uses {
			if used.Kind == openstack.KindNetwork && r.Kind != openstack.KindInterface ||
				used.Kind == openstack.KindVolume && r.Kind == openstack.KindSnapshot {
				parent = used
			}
		}
	}
	if _, owned := j.owned[parent]; owned {
		l.Parent = parent.ID
	}
	for _, used := range r.Uses {
		switch {
		case used.Kind == r.Kind:
		case slices.Contains(j.evidence[r.Ref], used):
			l.ProvenBy = append(l.ProvenBy, used.ID)
		default:
			l.Uses = append(l.Uses, used.ID)
		}
	}
	return l
}
