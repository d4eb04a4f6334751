package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/drive"
)

var errBroken = errors.New("broken")

// fakeCloud is a cloud whose answers a test sets. A server that it does not list is gone, unless it is hidden.
type fakeCloud struct {
	state   State
	images  map[string]string // by server
	hidden  []string          // servers that exist although the list leaves them out
	failing map[string]bool   // questions: state, image, gone, drive
}

func (c *fakeCloud) fail(question string) error {
	if c.failing[question] {
		return errBroken
	}
	return nil
}

func (c *fakeCloud) State(context.Context) (State, error) { return c.state, c.fail("state") }
func (c *fakeCloud) ImageOf(_ context.Context, server Server) (string, error) {
	return c.images[server.ID], c.fail("image")
}
func (c *fakeCloud) Gone(_ context.Context, id string) (bool, error) {
	return c.state.server(id) == nil && !slices.Contains(c.hidden, id), c.fail("gone")
}
func (c *fakeCloud) BalancerGone(_ context.Context, id string) (bool, error) {
	return c.state.balancer(id) == nil && !slices.Contains(c.hidden, id), c.fail("gone")
}
func (c *fakeCloud) Drive(_ context.Context, id string) (drive.Content, error) {
	return drive.Content{Metadata: drive.Metadata{UUID: id}}, c.fail("drive")
}

// fakeEngine is an engine that obeys and records its calls.
type fakeEngine struct {
	world  World
	wires  Wires
	images map[string]string // of the machines that were made, by server
	done   []string
	// configuration is the last one that a proxy got.
	configuration string
	// consoles are the servers whose consoles were shown.
	consoles []string
	failing  map[string]bool // what is done, as it is written down; "world" for looking
}

func (e *fakeEngine) do(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	e.done = append(e.done, what)
	if e.failing[what] {
		return errBroken
	}
	return nil
}

func (e *fakeEngine) World(context.Context) (World, error) {
	if e.failing["world"] {
		return World{}, errBroken
	}
	return World{slices.Clone(e.world.Containers), slices.Clone(e.world.Proxies), slices.Clone(e.world.Networks)}, nil
}

func (e *fakeEngine) Make(_ context.Context, m Machine, content drive.Content) error {
	container := Container{ID: "c-" + m.Server, Name: m.Name, Server: m.Server, Status: "created"}
	e.images[m.Server] = m.Image
	var links []string
	for _, link := range m.Links {
		container.Networks = append(container.Networks, link.Network)
		links = append(links, link.Network+"="+link.Address.String())
	}
	err := e.do("make %s %s", content.Metadata.UUID, strings.Join(links, ","))
	if err == nil {
		container.Status, container.PID = "running", 100+len(e.world.Containers)
	}
	e.world.Containers = append(e.world.Containers, container)
	return err
}

func (e *fakeEngine) MakeProxy(_ context.Context, p Proxy) error {
	err := e.do("proxy %s %s=%s", p.Balancer, p.Link.Network, p.Link.Address)
	container := Container{ID: "c-" + p.Balancer, Name: p.Name, Balancer: p.Balancer, Status: "created",
		Networks: []string{p.Link.Network}}
	if err == nil {
		container.Status, container.PID = "running", 200+len(e.world.Proxies)
	}
	e.world.Proxies = append(e.world.Proxies, container)
	e.configuration = p.Configuration
	return err
}

func (e *fakeEngine) Configure(_ context.Context, c Container, configuration string) error {
	e.configuration = configuration
	return e.do("configure %s", c.Balancer)
}

func (e *fakeEngine) Remove(_ context.Context, c Container) error {
	err := e.do("remove %s", c.Server+c.Balancer)
	if err == nil {
		same := func(o Container) bool { return o.ID == c.ID }
		e.world.Containers = slices.DeleteFunc(e.world.Containers, same)
		e.world.Proxies = slices.DeleteFunc(e.world.Proxies, same)
	}
	return err
}

func (e *fakeEngine) Power(_ context.Context, c Container, on bool) error {
	status := map[bool]string{true: "running", false: "exited"}[on]
	for _, all := range [][]Container{e.world.Containers, e.world.Proxies} {
		for i := range all {
			if all[i].ID == c.ID {
				all[i].Status = status
			}
		}
	}
	return e.do("power %s %v", c.Server+c.Balancer, on)
}

func (e *fakeEngine) Console(_ context.Context, c Container) error {
	e.consoles = append(e.consoles, c.Server)
	return nil
}

func (e *fakeEngine) MakeNetwork(_ context.Context, n Network) error {
	if !slices.Contains(e.world.Networks, n.ID) {
		e.world.Networks = append(e.world.Networks, n.ID)
	}
	return e.do("network %s %s", n.ID, n.Subnet)
}

func (e *fakeEngine) RemoveNetwork(_ context.Context, id string) error {
	e.world.Networks = slices.DeleteFunc(e.world.Networks, func(n string) bool { return n == id })
	return e.do("remove network %s", id)
}

func (e *fakeEngine) Wire(_ context.Context, wires Wires) error {
	e.wires = wires
	return nil
}

// bench is a bridge between fakes, with a clock and what it has said.
type bench struct {
	*Bridge
	cloud  *fakeCloud
	engine *fakeEngine
	now    time.Time
	said   []string
}

const (
	labImage   = "lab"
	otherImage = "lab-other"
)

// newBench returns a cloud with one network n1, in which the servers are active and have the addresses 10.0.0.11, .12,
// ...
func newBench(servers ...string) *bench {
	b := &bench{
		cloud:  &fakeCloud{images: map[string]string{}, failing: map[string]bool{}},
		engine: &fakeEngine{images: map[string]string{}, failing: map[string]bool{}},
		now:    time.Unix(0, 0),
	}
	b.cloud.state.Networks = []Network{{ID: "n1", Subnet: netip.MustParsePrefix("10.0.0.0/24"),
		Gateway: netip.MustParseAddr("10.0.0.1")}}
	for i, id := range servers {
		b.cloud.images[id] = labImage
		b.cloud.state.Servers = append(b.cloud.state.Servers, Server{ID: id, Name: id, Status: active})
		b.cloud.state.Ports = append(b.cloud.state.Ports,
			Port{ID: "p-" + id, Network: "n1", Device: id,
				Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(11 + i)})}})
	}
	b.restart()
	return b
}

// restart is what a kill leaves: a bridge that knows nothing.
func (b *bench) restart() {
	b.Bridge = New(b.cloud, b.engine, []string{labImage, otherImage},
		func(format string, args ...any) { b.said = append(b.said, fmt.Sprintf(format, args...)) })
	b.pause = newPause(func() time.Time { return b.now })
}

// look reconciles once and returns what was done.
func (b *bench) look(t *testing.T) []string {
	b.engine.done = nil
	b.Reconcile(t.Context())
	return b.engine.done
}

func (b *bench) status(status string) { b.cloud.state.Servers[0].Status = status }

// vanish takes a server and its port out of the cloud.
func (b *bench) vanish() {
	b.vanishServer()
	b.cloud.state.Ports = b.cloud.state.Ports[1:]
}

func (b *bench) vanishServer() { b.cloud.state.Servers = b.cloud.state.Servers[1:] }

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("did %q, want %q", got, want)
	}
}
