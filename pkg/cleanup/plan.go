// Package cleanup finds what an environment left behind, by proof of ownership, shows it, and deletes it.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// Kind is the kind of a thing that can be left behind.
type Kind string

// The kinds, in the order in which they are deleted: what makes others comes before what it makes.
const (
	BootstrapNode Kind = "bootstrap-node"
	Machine       Kind = "machine"
	Registry      Kind = "registry"
	Volume        Kind = "volume"
	Image         Kind = "image"
	Network       Kind = "network"
	File          Kind = "file"
)

func deletionOrder() []Kind {
	return []Kind{BootstrapNode, Machine, Registry, Volume, Image, Network, File}
}

// Item is one thing with the proof that it belongs to the environment, or the reason why it is left alone.
type Item struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	Proof string `json:"proof"`
}

// Plan is what would be deleted, in order, and what looks alike but is left alone.
type Plan struct {
	Delete    []Item `json:"delete"`
	LeftAlone []Item `json:"leftAlone,omitempty"`
}

// Engine is what is needed of the Docker engine.
type Engine interface {
	Containers(context.Context, docker.Filter) ([]string, error)
	Inspect(context.Context, string) (docker.Container, error)
	Volumes(context.Context, docker.Filter) ([]string, error)
	VolumeLabels(context.Context, string) (map[string]string, error)
	Network(context.Context, string) (docker.Network, error)
	Remove(context.Context, ...string) error
	RemoveVolume(context.Context, string) error
	RemoveImage(context.Context, string) error
	RemoveNetwork(context.Context, string) error
}

// Target says whose things are looked for.
type Target struct {
	Cluster string   // name of the management cluster, which is the value of all labels and markers
	Files   []string // local files and folders of the environment
}

const (
	environmentLabel = "cluster-init.io/environment"
	createdLabel     = "cluster-init.io/created"
	clusterLabel     = "io.x-k8s.kind.cluster"
	roleLabel        = "io.x-k8s.kind.role"
	loadBalancerRole = "external-load-balancer"
	markerFolder     = "/etc/cluster-init.io/environment/"
	registryImage    = "cluster-init.io/registry:"
	kindNetwork      = "kind"
)

// Discover looks for everything of the target. A question that could not be asked is an error, never "nothing there".
func Discover(ctx context.Context, engine Engine, t Target) (Plan, error) {
	var p Plan
	for _, find := range []func(context.Context, Engine, Target, *Plan) error{findNodes, findRegistry, findVolumes, findNetwork, findFiles} {
		if err := find(ctx, engine, t, &p); err != nil {
			return Plan{}, err
		}
	}
	rank := map[Kind]int{}
	for i, k := range deletionOrder() {
		rank[k] = i
	}
	sort.SliceStable(p.Delete, func(i, j int) bool { return rank[p.Delete[i].Kind] < rank[p.Delete[j].Kind] })
	return p, nil
}

// findNodes finds nodes of the bootstrap cluster, machines, and the machines' load balancer.
func findNodes(ctx context.Context, engine Engine, t Target, p *Plan) error {
	for cluster, kind := range map[string]Kind{t.Cluster + "-bootstrap": BootstrapNode, t.Cluster: Machine} {
		names, err := engine.Containers(ctx, docker.Filter{Labels: []string{clusterLabel + "=" + cluster}})
		if err != nil {
			return fmt.Errorf("looking for containers of %s: %w", cluster, err)
		}
		sort.Strings(names)
		containers := make([]docker.Container, 0, len(names))
		marked, nodes := false, 0
		for _, name := range names {
			c, err := engine.Inspect(ctx, name)
			if errors.Is(err, docker.ErrNotFound) {
				continue
			}
			if err != nil {
				return fmt.Errorf("looking at container %s: %w", name, err)
			}
			containers = append(containers, c)
			marked = marked || c.HasMount(markerFolder+t.Cluster)
			if c.Labels[roleLabel] != loadBalancerRole {
				nodes++
			}
		}
		for _, c := range containers {
			p.judgeNode(c, kind, t.Cluster, marked || nodes == 0)
		}
	}
	return nil
}

// judgeNode takes a node by its marker. A load balancer cannot carry one: it belongs to its cluster by label and name,
// and is ours when a machine of that cluster is, or when no machine is left to ask.
func (p *Plan) judgeNode(c docker.Container, kind Kind, cluster string, ours bool) {
	name := strings.TrimPrefix(c.Name, "/")
	switch {
	case c.HasMount(markerFolder + cluster):
		p.Delete = append(p.Delete, Item{kind, name, "carries the marker " + markerFolder + cluster})
	case ours && kind == Machine && c.Labels[roleLabel] == loadBalancerRole && name == cluster+"-lb":
		p.Delete = append(p.Delete, Item{kind, name, "load balancer by label " + clusterLabel + "=" + cluster})
	default:
		p.LeftAlone = append(p.LeftAlone, Item{kind, name, "has the label " + clusterLabel + " but not the marker " + markerFolder + cluster})
	}
}

func findRegistry(ctx context.Context, engine Engine, t Target, p *Plan) error {
	names, err := engine.Containers(ctx, docker.Filter{Labels: []string{environmentLabel + "=" + t.Cluster}})
	if err != nil {
		return fmt.Errorf("looking for the registry of %s: %w", t.Cluster, err)
	}
	for _, name := range names {
		c, err := engine.Inspect(ctx, name)
		if errors.Is(err, docker.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking at container %s: %w", name, err)
		}
		p.Delete = append(p.Delete, Item{Registry, name, "label " + environmentLabel + "=" + t.Cluster})
		if strings.HasPrefix(c.Image, registryImage) {
			p.Delete = append(p.Delete, Item{Image, c.Image, "made by cluster-init for its registry"})
		}
	}
	return nil
}

func findVolumes(ctx context.Context, engine Engine, t Target, p *Plan) error {
	names, err := engine.Volumes(ctx, docker.Filter{Labels: []string{environmentLabel + "=" + t.Cluster}})
	if err != nil {
		return fmt.Errorf("looking for volumes of %s: %w", t.Cluster, err)
	}
	for _, name := range names {
		p.Delete = append(p.Delete, Item{Volume, name, "label " + environmentLabel + "=" + t.Cluster})
	}
	return nil
}

// findNetwork takes the network that kind clusters share only if cluster-init made it and only we are left in it.
func findNetwork(ctx context.Context, engine Engine, t Target, p *Plan) error {
	n, err := engine.Network(ctx, kindNetwork)
	if errors.Is(err, docker.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at the network %s: %w", kindNetwork, err)
	}
	ours := 0
	for _, item := range p.Delete {
		if item.Kind == BootstrapNode || item.Kind == Machine || item.Kind == Registry {
			ours++
		}
	}
	switch {
	case n.Labels[createdLabel] != "true":
		p.LeftAlone = append(p.LeftAlone, Item{Network, kindNetwork, "was not made by cluster-init"})
	case n.Containers > ours:
		p.LeftAlone = append(p.LeftAlone, Item{Network, kindNetwork, "other containers are in it"})
	default:
		p.Delete = append(p.Delete, Item{Network, kindNetwork, "label " + createdLabel + "=true, nobody else is in it"})
	}
	return nil
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
		p.Delete = append(p.Delete, Item{File, path, "written by cluster-init up"})
	}
	return nil
}
