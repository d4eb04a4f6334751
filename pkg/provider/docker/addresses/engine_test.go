package addresses_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"
	"testing"

	"archive/tar"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// engine is an engine with one network, which gives the lowest free address, or the one after the last.
type engine struct {
	containers map[string]*docker.Container
	files      map[string]map[string]docker.File // by container and name
	log        []string
	// assigns returns the address that a container gets; the zero value leaves it to the engine.
	assigns  func(name string) netip.Addr
	nextFit  bool
	last     netip.Addr
	executed []string
}

const network = "kind"

func newEngine() *engine {
	return &engine{containers: map[string]*docker.Container{}, files: map[string]map[string]docker.File{}}
}

// add adds a stopped container. A role of "" is that of a stranger.
func (e *engine) add(name, role string) {
	c := &docker.Container{ID: name, Name: name, ImageID: "image-of-" + name, Status: "exited",
		Networks: map[string]docker.Endpoint{network: {NetworkID: "n1"}}, Labels: map[string]string{}}
	if role != "" {
		c.Labels[kind.ClusterLabel], c.Labels[kind.RoleLabel] = "demo", role
	}
	e.containers[name], e.files[name] = c, map[string]docker.File{}
}

// running has a container run with an address.
func (e *engine) running(name, address string) {
	c := e.containers[name]
	c.Running, c.Status = true, "running"
	c.Networks[network] = docker.Endpoint{NetworkID: "n1", IPv4: address}
}

func (e *engine) file(container, name, content string) {
	header := tar.Header{Typeflag: tar.TypeReg, Name: path.Base(name), Mode: 0o600}
	e.files[container][name] = docker.File{Header: header, Content: []byte(content)}
}

// list returns containers in this order.
func (e *engine) list(names ...string) (all []docker.Container) {
	for _, name := range names {
		all = append(all, *e.containers[name])
	}
	return all
}

func (e *engine) address(name string) string {
	c, found := e.containers[name]
	if !found || !c.Running {
		return ""
	}
	return c.Networks[network].IPv4
}

// holds returns the containers that still hold an address.
func (e *engine) holds() (names []string) {
	for name, c := range e.containers {
		if c.Labels[owned.HoldsLabel] != "" {
			names = append(names, name)
		}
	}
	return names
}

func (e *engine) Containers(_ context.Context, f docker.Filter) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.containers)) {
		matches := func(label string) bool {
			key, value, has := strings.Cut(label, "=")
			got, there := e.containers[name].Labels[key]
			return there && (!has || got == value)
		}
		if !slices.ContainsFunc(f.Labels, func(l string) bool { return !matches(l) }) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (e *engine) Inspect(_ context.Context, name string) (docker.Container, error) {
	c, there := e.containers[name]
	if !there {
		return docker.Container{}, docker.ErrNotFound
	}
	copied := *c
	copied.Networks = maps.Clone(c.Networks)
	return copied, nil
}

func (e *engine) attached() map[netip.Addr]string {
	all := map[netip.Addr]string{}
	for name := range e.containers {
		if a := e.address(name); a != "" {
			all[netip.MustParseAddr(a)] = name
		}
	}
	return all
}

func (e *engine) Networks(context.Context, string) ([]docker.Network, error) {
	return []docker.Network{{ID: "n1", Name: network, Attached: e.attached(),
		Subnets: []netip.Prefix{netip.MustParsePrefix("172.18.0.0/16"), netip.MustParsePrefix("fd00::/64")}}}, nil
}

func (e *engine) Start(_ context.Context, name string) error {
	e.log = append(e.log, "start "+name)
	taken := e.attached()
	next := netip.MustParseAddr("172.18.0.2")
	if e.nextFit && e.last.IsValid() {
		next = e.last.Next()
	}
	for taken[next] != "" {
		next = next.Next()
	}
	if e.assigns != nil {
		if a := e.assigns(name); a.IsValid() {
			next = a
		}
	}
	e.last = next
	e.running(name, next.String())
	return nil
}

func (e *engine) Run(ctx context.Context, o docker.RunOptions) (string, error) {
	if _, there := e.containers[o.Name]; there {
		return "", fmt.Errorf("the name %s is already in use", o.Name)
	}
	e.add(o.Name, "")
	e.containers[o.Name].Labels = o.Labels
	before := len(e.log)
	err := e.Start(ctx, o.Name)
	e.log = e.log[:before]
	return o.Name, err
}

func (e *engine) Stop(_ context.Context, name string) error {
	e.log = append(e.log, "stop "+name)
	e.containers[name].Running, e.containers[name].Status = false, "exited"
	return nil
}

func (e *engine) Remove(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		delete(e.containers, name)
	}
	return nil
}

func (e *engine) ReadFile(_ context.Context, container, name string) (docker.File, error) {
	f, there := e.files[container][name]
	if !there {
		return f, docker.ErrNotFound
	}
	return f, nil
}

func (e *engine) WriteFile(_ context.Context, container, folder string, f docker.File) error {
	if e.containers[container].Running {
		return errors.New("it runs")
	}
	e.files[container][path.Join(folder, f.Header.Name)] = f
	return nil
}

func (e *engine) Exec(_ context.Context, container string, args []string, _ docker.ExecOptions) error {
	e.executed = append(e.executed, container+": "+strings.Join(args, " "))
	return nil
}

// cluster is a cluster of a load balancer (.4), a control plane (.6) and a worker, whose files say so.
func cluster(t *testing.T) *engine {
	t.Helper()
	e := newEngine()
	e.add("demo-registry", "")
	e.add("demo-lb", kind.LoadBalancerRole)
	e.add("demo-cp", "control-plane")
	e.add("demo-worker", "worker")
	e.file("demo-cp", "/etc/kubernetes/pki/etcd/peer.crt", string(certificate(t, "172.18.0.6", "127.0.0.1", "::1")))
	e.file("demo-cp", "/etc/kubernetes/admin.conf", "    server: https://172.18.0.4:6443\n")
	e.file("demo-cp", "/etc/kubernetes/kubelet.conf", "    server: https://172.18.0.6:6443\n")
	e.file("demo-worker", "/etc/kubernetes/kubelet.conf", "    server: https://172.18.0.4:6443\n")
	return e
}
