package openstack

import (
	"cmp"
	"time"
)

// Kind is the kind of a resource.
type Kind string

// The kinds that a cluster's controllers make, or that are attached to them.
const (
	KindLoadBalancer  Kind = "load-balancer"
	KindServer        Kind = "server"
	KindServerGroup   Kind = "server-group"
	KindVolume        Kind = "volume"
	KindSnapshot      Kind = "volume-snapshot"
	KindFloatingIP    Kind = "floating-ip"
	KindTrunk         Kind = "trunk"
	KindPort          Kind = "port"
	KindInterface     Kind = "router-interface" // a port of a router, which has another API call than other ports
	KindRouter        Kind = "router"
	KindSubnet        Kind = "subnet"
	KindNetwork       Kind = "network"
	KindSecurityGroup Kind = "security-group"
)

// Ref names a resource.
type Ref struct {
	Kind Kind
	ID   string
}

// Resource is one resource of a cloud with its relations.
type Resource struct {
	Ref
	Name, Description, Status string
	// Project is the ID of its project. Empty means the cloud does not report it.
	Project string
	Tags    []string
	// Properties are the metadata of a server, volume or snapshot.
	Properties map[string]string
	// Created is zero if the cloud does not report it.
	Created time.Time
	// Uses are resources that cannot or must not be deleted while this one exists. They need not be in the inventory.
	Uses []Ref
	// PartOf is the resource that this one belongs to: the server of a port or of a volume that is deleted on
	// termination, the load balancer of its port, the router of an interface, the port of a trunk. Zero means nothing.
	PartOf Ref
}

// Title is the name of a resource, or its ID where it has none, as ports and volumes often do.
func (r Resource) Title() string { return cmp.Or(r.Name, r.ID) }

// Inventory is the resources of a project.
type Inventory struct {
	// Project is the ID of the project that the credentials are for.
	Project   string
	Resources []Resource
	// Unknown are the kinds that could not be listed, and why. Interfaces are listed as ports.
	Unknown map[Kind]error
}
