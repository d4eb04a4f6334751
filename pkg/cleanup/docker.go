package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Engine is the part of the Docker engine that cleanup needs.
type Engine interface {
	Containers(context.Context, docker.Filter) ([]string, error)
	Inspect(context.Context, string) (docker.Container, error)
	Volumes(context.Context, docker.Filter) ([]string, error)
	VolumeLabels(context.Context, string) (map[string]string, error)
	Networks(context.Context, string) ([]docker.Network, error)
	ContainersIn(context.Context, docker.Network) ([]string, error)
	Remove(context.Context, ...string) error
	RemoveVolume(context.Context, string) error
	RemoveImage(context.Context, string) error
	RemoveNetwork(context.Context, string) error
}

const kindNetwork = "kind"

// Discover looks for everything of the target on this machine. A failed query is an error, never "nothing there".
func Discover(ctx context.Context, engine Engine, t Target) (Plan, error) {
	p := Plan{Cluster: t.Cluster}
	for _, find := range []func(context.Context, Engine, Target, *Plan) error{findNodes, findRegistry, findVolumes,
		findNetwork, findFiles} {
		if err := find(ctx, engine, t, &p); err != nil {
			return Plan{}, err
		}
	}
	order := dockerOrder()
	sort.SliceStable(p.Delete, func(i, j int) bool {
		return slices.Index(order, p.Delete[i].Kind) < slices.Index(order, p.Delete[j].Kind)
	})
	return p, nil
}

// findNodes finds the nodes of the bootstrap cluster, the machines, and their load balancer.
func findNodes(ctx context.Context, engine Engine, t Target, p *Plan) error {
	for _, group := range []struct {
		cluster  string
		nodeKind Kind
	}{{owned.BootstrapCluster(t.Cluster), BootstrapNode}, {t.Cluster, Machine}} {
		cluster, nodeKind := group.cluster, group.nodeKind
		containers, err := labelled(ctx, engine, kind.ClusterLabel+"="+cluster)
		if err != nil {
			return err
		}
		marked, nodes := false, 0
		for _, c := range containers {
			marked = marked || c.HasMount(owned.Marker(t.Cluster))
			if c.Labels[kind.RoleLabel] != kind.LoadBalancerRole {
				nodes++
			}
		}
		for _, c := range containers {
			p.addNode(c, nodeKind, t.Cluster, marked || nodes == 0)
		}
	}
	return nil
}

// labelled returns the containers with a label, sorted by name. The names have no leading slash.
func labelled(ctx context.Context, engine Engine, label string) ([]docker.Container, error) {
	names, err := engine.Containers(ctx, docker.Filter{Labels: []string{label}})
	if err != nil {
		return nil, fmt.Errorf("looking for containers with label %s: %w", label, err)
	}
	slices.Sort(names)
	containers := make([]docker.Container, 0, len(names))
	for _, name := range names {
		c, err := engine.Inspect(ctx, name)
		if errors.Is(err, docker.ErrNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at container %s: %w", name, err)
		}
		c.Name = name
		containers = append(containers, c)
	}
	return containers, nil
}

// addNode plans the deletion of a node that has the marker. A load balancer cannot have one: it belongs to its
// cluster by label and name. It is managed if a machine of that cluster is, or if no machine is left to check.
func (p *Plan) addNode(c docker.Container, nodeKind Kind, cluster string, clusterProven bool) {
	switch {
	case c.HasMount(owned.Marker(cluster)):
		p.Delete = append(p.Delete, Item{Where: InDocker, Kind: nodeKind, Name: c.Name, Created: c.Created,
			Proof: "carries the marker " + owned.Marker(cluster)})
	case clusterProven && nodeKind == Machine && c.Labels[kind.RoleLabel] == kind.LoadBalancerRole &&
		c.Name == owned.LoadBalancer(cluster):
		p.Delete = append(p.Delete, Item{Where: InDocker, Kind: nodeKind, Name: c.Name, Created: c.Created,
			Proof: "load balancer by label " + kind.ClusterLabel + "=" + cluster})
	default:
		p.LeftAlone = append(p.LeftAlone, Item{Where: InDocker, Kind: nodeKind, Name: c.Name, Created: c.Created,
			Proof: "has the label " + kind.ClusterLabel + " but not the marker " + owned.Marker(cluster)})
	}
}

func findRegistry(ctx context.Context, engine Engine, t Target, p *Plan) error {
	containers, err := labelled(ctx, engine, owned.ClusterLabel+"="+t.Cluster)
	if err != nil {
		return err
	}
	for _, c := range containers {
		p.Delete = append(p.Delete, Item{Where: InDocker, Kind: Registry, Name: c.Name, Created: c.Created,
			Proof: "label " + owned.ClusterLabel + "=" + t.Cluster, Serves: c.Labels[owned.ServesLabel]})
		if strings.HasPrefix(c.Image, owned.RegistryRepository+":") {
			p.Delete = append(p.Delete, Item{Where: InDocker, Kind: Image, Name: c.Image,
				Proof: "made by cluster-init for its registry"})
		}
	}
	return nil
}

func findVolumes(ctx context.Context, engine Engine, t Target, p *Plan) error {
	names, err := engine.Volumes(ctx, docker.Filter{Labels: []string{owned.ClusterLabel + "=" + t.Cluster}})
	if err != nil {
		return fmt.Errorf("looking for volumes of %s: %w", t.Cluster, err)
	}
	for _, name := range names {
		p.Delete = append(p.Delete, Item{Where: InDocker, Kind: Volume, Name: name, Proof: "label " +
			owned.ClusterLabel + "=" + t.Cluster})
	}
	return nil
}

// findNetwork plans the deletion of the network that kind clusters share. It requires that cluster-init created the
// network and that only this environment uses it. A stopped container counts: it could not start without its network.
// Several networks can have this name: each is checked by itself.
func findNetwork(ctx context.Context, engine Engine, _ Target, p *Plan) error {
	networks, err := engine.Networks(ctx, kindNetwork)
	if err != nil {
		return fmt.Errorf("looking at the network %s: %w", kindNetwork, err)
	}
	managed := slices.Clone(p.Delete)
	for _, n := range networks {
		others, err := othersIn(ctx, engine, n, managed)
		if err != nil {
			return err
		}
		item := Item{Where: InDocker, Kind: Network, Name: kindNetwork, ID: n.ID}
		switch {
		case n.Labels[owned.CreatedLabel] != "true":
			item.Proof = "was not made by cluster-init"
			p.LeftAlone = append(p.LeftAlone, item)
		case len(others) > 0:
			item.Proof = "other containers are in it, running or not: " + abbreviated(others)
			p.LeftAlone = append(p.LeftAlone, item)
		default:
			item.Proof = "label " + owned.CreatedLabel + "=true, no other container is in it"
			p.Delete = append(p.Delete, item)
		}
	}
	return nil
}

// othersIn returns the containers of a network, stopped ones included, that are not among the items.
func othersIn(ctx context.Context, engine Engine, n docker.Network, items []Item) ([]string, error) {
	names, err := engine.ContainersIn(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("looking for containers in the network %s: %w", n.Name, err)
	}
	others := slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(items, func(i Item) bool {
			return i.Name == name && (i.Kind == BootstrapNode || i.Kind == Machine || i.Kind == Registry)
		})
	})
	slices.Sort(others)
	return others, nil
}

func findFiles(_ context.Context, _ Engine, t Target, p *Plan) error {
	for _, path := range t.Files {
		_, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking for %s: %w", path, err)
		}
		p.Delete = append(p.Delete, Item{Where: InFiles, Kind: File, Name: path, Proof: "written by cluster-init up"})
	}
	return nil
}
