package hypervisor

import (
	"cmp"
	"net/netip"
	"slices"
)

// Statuses of servers that matter here; see nova's API.
const (
	active      = "ACTIVE"
	shutOff     = "SHUTOFF"
	deleted     = "DELETED"
	softDeleted = "SOFT_DELETED"
)

// Server is what nova says of a server.
type Server struct {
	ID, Name, Status string
	Image            string // identifier; empty when it boots from a volume
	Volume           string // its first volume
}

// Port is an address of a server, or of something else, in a network.
type Port struct {
	ID, Network string
	Device      string       // identifier of the server
	Addresses   []netip.Addr // fixed addresses, of version 4
	Shared      []netip.Addr // addresses of version 4 that it may have besides: allowed address pairs
}

// Network is a neutron network with its first subnet of version 4: a docker network has no more.
type Network struct {
	ID      string
	Subnet  netip.Prefix
	Gateway netip.Addr // not valid when the subnet has none
}

// FloatingIP is an address outside that leads to a fixed one.
type FloatingIP struct {
	Address, Fixed netip.Addr
	Port           string // identifier; empty while it is not associated
}

// State is what the cloud says.
type State struct {
	Servers   []Server
	Networks  []Network
	Ports     []Port
	Floating  []FloatingIP
	Balancers []LoadBalancer
}

// Link is a place in a network.
type Link struct {
	Network string
	Address netip.Addr
}

// Machine is a container to be made.
type Machine struct {
	Server, Name string // identifier and name of the server
	Image        string // name of the image that the server was made of
	Links        []Link // one at least
}

// Container is a container that exists, with the server or the load balancer that it stands for.
type Container struct {
	ID, Name         string
	Server, Balancer string // identifier; one of them is empty
	Status           string // of docker: created, running, exited, ...
	PID              int    // of its first process; 0 when it does not run
	Networks         []string
}

// Running reports whether the container runs.
func (c Container) Running() bool { return c.Status == "running" }

// World is what exists in the engine.
type World struct {
	Containers []Container // of servers
	Proxies    []Container // of load balancers
	Networks   []string    // identifiers of neutron networks
}

// Floating is a floating address of a machine that runs.
type Floating struct {
	Address, Fixed netip.Addr
	Network        string
}

// Wires are all connections that are not of one machine alone.
type Wires struct {
	Networks []string // those that exist
	// Taken are the addresses of each network that neutron has given away.
	Taken map[string][]netip.Addr
	// Machines are the process identifiers of those that run, and of load balancers, each with its floating addresses,
	// or none.
	Machines map[int][]Floating
	// Shared are addresses of networks that machines give to each other.
	Shared []netip.Addr
}

// links returns the places of a server, in the order of the networks' identifiers.
func (s State) links(server string) []Link {
	var links []Link
	for _, port := range s.Ports {
		if port.Device == server && len(port.Addresses) > 0 && s.network(port.Network) != nil {
			links = append(links, Link{port.Network, port.Addresses[0]})
		}
	}
	slices.SortFunc(links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network),
			a.Address.Compare(b.Address))
	})
	// A container has one place in a network.
	return slices.CompactFunc(links, func(a, b Link) bool { return a.Network == b.Network })
}

func (s State) network(id string) *Network {
	i := slices.IndexFunc(s.Networks, func(n Network) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Networks[i]
}

func (s State) server(id string) *Server {
	i := slices.IndexFunc(s.Servers, func(n Server) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Servers[i]
}

// floating returns the floating addresses of what a container stands for.
func (s State) floating(container Container) []Floating {
	var found []Floating
	has := func(p Port) bool { return p.Device == container.Server }
	if container.Balancer != "" {
		balancer := s.balancer(container.Balancer)
		has = func(p Port) bool { return balancer != nil && p.ID == balancer.Port }
	}
	for _, address := range s.Floating {
		i := slices.IndexFunc(s.Ports, func(p Port) bool { return address.Port != "" && p.ID == address.Port })
		if i >= 0 && has(s.Ports[i]) {
			found = append(found, Floating{Address: address.Address, Fixed: address.Fixed, Network: s.Ports[i].Network})
		}
	}
	return found
}

// shared returns the addresses that ports of servers may have besides their own, each once.
func (s State) shared() []netip.Addr {
	var all []netip.Addr
	for _, port := range s.Ports {
		if s.server(port.Device) != nil {
			all = append(all, port.Shared...)
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// taken returns the addresses that neutron has given away in each network.
func (s State) taken() map[string][]netip.Addr {
	all := map[string][]netip.Addr{}
	for _, port := range s.Ports {
		all[port.Network] = append(all[port.Network], port.Addresses...)
	}
	return all
}

// all returns the containers of servers and of load balancers.
func (w World) all() []Container { return slices.Concat(w.Containers, w.Proxies) }

// uses reports whether a container has a place in a network, also one that does not run.
func (w World) uses(network string) bool {
	return slices.ContainsFunc(w.all(), func(c Container) bool { return slices.Contains(c.Networks, network) })
}

func (w World) container(server string) *Container {
	i := slices.IndexFunc(w.Containers, func(c Container) bool { return c.Server == server })
	if i < 0 {
		return nil
	}
	return &w.Containers[i]
}
