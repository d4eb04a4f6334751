package hypervisor

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/proxy"
)

const proxyOfB = "proxy b n1=10.0.0.100"

// newBalanced returns a cloud without servers in which a load balancer has the address 10.0.0.100 and the members.
func newBalanced(members ...string) *bench {
	b := newBench()
	b.cloud.state.Ports = []Port{{ID: "p-vip", Network: "n1", Device: "lb-b",
		Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.100")}}}
	b.cloud.state.Balancers = []LoadBalancer{{ID: "b", Name: "api", Port: "p-vip",
		Listeners: []proxy.Listener{{Port: 6443}}}}
	b.members(members...)
	return b
}

// members gives the load balancer others.
func (b *bench) members(addresses ...string) {
	var all []netip.AddrPort
	for _, address := range addresses {
		all = append(all, netip.MustParseAddrPort(address))
	}
	b.cloud.state.Balancers[0].Listeners = []proxy.Listener{{Port: 6443, Members: all}}
}

func TestLoadBalancersBecomeProxiesAndGo(t *testing.T) {
	b := newBalanced()
	expect(t, b.look(t)) // there is nothing behind it
	b.members("10.0.0.11:6443")
	expect(t, b.look(t), "network n1 10.0.0.0/24", proxyOfB)
	expect(t, b.look(t))
	b.members("10.0.0.11:6443", "10.0.0.12:6443")
	expect(t, b.look(t), "configure b")
	if !strings.Contains(b.engine.configuration, "server 10.0.0.12:6443") {
		t.Errorf("the configuration lacks the second member: %s", b.engine.configuration)
	}
	b.members() // while the only machine is replaced
	expect(t, b.look(t), "configure b")
	expect(t, b.look(t))
	b.cloud.state.Balancers = nil
	expect(t, b.look(t), "remove b")
	expect(t, b.look(t), "remove network n1")
	expect(t, b.look(t))
}

func TestAProxyIsConfiguredOnceByABridgeThatWasKilled(t *testing.T) {
	b := newBalanced("10.0.0.11:6443")
	b.look(t)
	b.restart()
	expect(t, b.look(t), "configure b")
	expect(t, b.look(t))
}

// A configuration that did not arrive is given again; a proxy that has ended is started.
func TestAProxyThatFailsIsServedAgain(t *testing.T) {
	b := newBalanced("10.0.0.11:6443")
	b.engine.failing[proxyOfB] = true
	b.look(t)
	delete(b.engine.failing, proxyOfB)
	expect(t, b.look(t)) // not at once again
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "remove b", "network n1 10.0.0.0/24", proxyOfB)
	b.members("10.0.0.12:6443")
	b.engine.failing["configure b"] = true
	b.look(t)
	delete(b.engine.failing, "configure b")
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "configure b")
	b.engine.world.Proxies[0].Status = "exited"
	expect(t, b.look(t), "power b true")
	expect(t, b.look(t))
}

func TestALoadBalancerThatCouldNotBeAskedForIsNotGone(t *testing.T) {
	for name, breakIt := range map[string]func(b *bench){
		"the list is empty, it is there":      func(b *bench) { b.cloud.hidden = []string{"b"} },
		"the list is empty, and no answer":    func(b *bench) { b.cloud.failing["gone"] = true },
		"the cloud does not answer":           func(b *bench) { b.cloud.failing["state"] = true },
		"the engine does not say what it has": func(b *bench) { b.engine.failing["world"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBalanced("10.0.0.11:6443")
			b.look(t)
			breakIt(b)
			b.cloud.state.Balancers = nil
			expect(t, b.look(t))
			if len(b.engine.world.Proxies) != 1 || len(b.engine.world.Networks) != 1 {
				t.Errorf("left: %+v", b.engine.world)
			}
		})
	}
}

func TestAFloatingAddressLeadsToTheProxy(t *testing.T) {
	b := newBalanced("10.0.0.11:6443")
	outside, inside := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("10.0.0.100")
	b.cloud.state.Floating = []FloatingIP{{Address: outside, Fixed: inside, Port: "p-vip"}}
	b.look(t) // made
	b.look(t)
	got := b.engine.wires.Machines[b.engine.world.Proxies[0].PID]
	if want := []Floating{{outside, inside, "n1"}}; !slices.Equal(got, want) {
		t.Errorf("the proxy has %v, want %v", got, want)
	}
}

func TestALoadBalancerWaitsForItsAddress(t *testing.T) {
	b := newBalanced("10.0.0.11:6443")
	addresses := b.cloud.state.Ports[0].Addresses
	b.cloud.state.Ports[0].Addresses = nil
	expect(t, b.look(t))
	b.cloud.state.Ports[0].Addresses = addresses
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "network n1 10.0.0.0/24", proxyOfB)
}

func TestCleanRemovesProxies(t *testing.T) {
	b := newBalanced("10.0.0.11:6443")
	b.look(t)
	b.engine.done = nil
	if err := Clean(t.Context(), b.engine, t.Logf); err != nil {
		t.Fatal(err)
	}
	expect(t, b.engine.done, "remove b", "remove network n1")
}
