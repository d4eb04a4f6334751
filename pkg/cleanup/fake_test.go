package cleanup_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// fakeEngine is a Docker engine in memory. fails maps a call, as "verb name", to its error.
type fakeEngine struct {
	containers map[string]docker.Container
	volumes    map[string]map[string]string // labels
	networks   []docker.Network             // without a name: kind
	fails      map[string]error
	deleted    []string
	removed    func(what string) // called after a removal; may be nil
}

func (f *fakeEngine) Containers(_ context.Context, filter docker.Filter) ([]string, error) {
	var names []string
	for name, c := range f.containers {
		if _, in := c.Networks[filter.Network]; holds(c.Labels, filter) && (in || filter.Network == "") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, f.fails["containers "+strings.Join(filter.Labels, ",")+filter.Network]
}

func holds(labels map[string]string, filter docker.Filter) bool {
	for _, wanted := range filter.Labels {
		key, value, valued := strings.Cut(wanted, "=")
		if got, has := labels[key]; !has || valued && got != value {
			return false
		}
	}
	return true
}

func (f *fakeEngine) Inspect(_ context.Context, name string) (docker.Container, error) {
	c, found := f.containers[name]
	if err := f.fails["inspect "+name]; err != nil {
		return docker.Container{}, err
	}
	if !found {
		return docker.Container{}, fmt.Errorf("inspect %s: %w", name, docker.ErrNotFound)
	}
	c.Name = name
	return c, nil
}

func (f *fakeEngine) Volumes(_ context.Context, filter docker.Filter) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.volumes)) {
		if holds(f.volumes[name], filter) {
			names = append(names, name)
		}
	}
	return names, f.fails["volumes"]
}

func (f *fakeEngine) VolumeLabels(_ context.Context, name string) (map[string]string, error) {
	return f.volumes[name], nil
}

func (f *fakeEngine) Networks(_ context.Context, name string) ([]docker.Network, error) {
	var networks []docker.Network
	for _, n := range f.networks {
		if n.Name == "" {
			n.Name = name
		}
		networks = append(networks, n)
	}
	return networks, f.fails["network"]
}

func (f *fakeEngine) ContainersIn(_ context.Context, n docker.Network) ([]string, error) {
	var names []string
	for name, c := range f.containers {
		if e, in := c.Networks[n.Name]; in && (e.NetworkID == n.ID || e.NetworkID == "") {
			names = append(names, name)
		}
	}
	return names, f.fails["containers "+n.Name]
}

func (f *fakeEngine) Remove(_ context.Context, names ...string) error {
	return f.remove("container " + strings.Join(names, " "))
}

func (f *fakeEngine) RemoveVolume(_ context.Context, name string) error {
	return f.remove("volume " + name)
}

func (f *fakeEngine) RemoveImage(_ context.Context, name string) error {
	return f.remove("image " + name)
}

func (f *fakeEngine) RemoveNetwork(_ context.Context, name string) error {
	return f.remove("network " + name)
}

func (f *fakeEngine) remove(what string) error {
	if err := f.fails["remove "+what]; err != nil {
		return err
	}
	f.deleted = append(f.deleted, what)
	if f.removed != nil {
		f.removed(what)
	}
	return nil
}

// nodes returns the containers of cluster a's bootstrap cluster and registry.
func nodes(marker string) map[string]docker.Container {
	return map[string]docker.Container{
		"a-bootstrap-control-plane": {Labels: map[string]string{"io.x-k8s.kind.cluster": "a-bootstrap"},
			Mounts: []docker.Mount{{Target: marker}}},
		"a-registry": {Image: "registry:3", Labels: map[string]string{"cluster-init.io/cluster": "a"}},
	}
}
