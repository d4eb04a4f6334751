package hypervisor

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

const bootsA = "make a n1=10.0.0.11"

func TestServersBecomeContainersAndGo(t *testing.T) {
	b := newBench("a", "b")
	expect(t, b.look(t), "network n1 10.0.0.0/24", bootsA, "network n1 10.0.0.0/24", "make b n1=10.0.0.12")
	expect(t, b.look(t))
	b.restart()
	expect(t, b.look(t))
	b.vanish()
	expect(t, b.look(t), "remove a")
	b.status(deleted)
	expect(t, b.look(t), "remove b")
	expect(t, b.look(t), "remove network n1")
	expect(t, b.look(t))
}

// The cloud shows the console of each machine that runs.
func TestConsolesAreShown(t *testing.T) {
	b := newBench("a", "b")
	b.look(t)
	b.engine.consoles = nil
	b.cloud.state.Servers[1].Status = shutOff
	b.look(t)
	b.look(t)
	if want := []string{"a", "b", "a"}; !slices.Equal(b.engine.consoles, want) {
		t.Errorf("shown are %q, want %q", b.engine.consoles, want)
	}
}

func TestStatusOfTheServerIsThatOfItsContainer(t *testing.T) {
	b := newBench("a")
	for _, status := range []string{"BUILD", "ERROR", shutOff} {
		b.status(status)
		expect(t, b.look(t))
	}
	b.status(active)
	b.look(t)
	b.status(shutOff)
	expect(t, b.look(t), "power a false")
	expect(t, b.look(t))
	b.status("ERROR")
	expect(t, b.look(t))
	b.status(active)
	expect(t, b.look(t), "power a true")
}

func TestAMachineIsOfItsServersImage(t *testing.T) {
	b := newBench("a", "b")
	b.cloud.images["b"] = otherImage
	b.look(t)
	if want := map[string]string{"a": labImage, "b": otherImage}; !maps.Equal(b.engine.images, want) {
		t.Errorf("machines of the images %v, want %v", b.engine.images, want)
	}
}

func TestOtherServersStayPaper(t *testing.T) {
	b := newBench("a")
	b.cloud.images["a"] = "ubuntu"
	expect(t, b.look(t))
	b.cloud.images["a"] = labImage
	b.look(t)
	// Its image is deleted, or cannot be asked after: it is a machine all the same.
	b.cloud.images["a"], b.cloud.failing["image"] = "", true
	b.restart()
	expect(t, b.look(t))
}

// What could not be asked is not gone.
func TestFailedQuestionsRemoveNothing(t *testing.T) {
	tests := map[string]func(b *bench){
		"the engine does not answer": func(b *bench) { b.engine.failing["world"] = true; b.vanish() },
		"the cloud does not answer": func(
			b *bench) {
			b.cloud.failing["state"] = true
			b.cloud.state = State{}
		},
		"the list is empty, the server is there": func(b *bench) {
			b.cloud.state, b.cloud.hidden = State{},
				[]string{"a"}
		},
		"the list is empty, and nothing else known": func(b *bench) {
			b.cloud.state, b.cloud.failing["gone"] = State{},
				true
		},
	}
	for name, breakIt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench("a")
			b.look(t)
			breakIt(b)
			expect(t, b.look(t))
			if len(b.engine.world.Containers) != 1 || len(b.engine.world.Networks) != 1 {
				t.Errorf("left: %+v", b.engine.world)
			}
		})
	}
}

func TestHalfMadeContainersAreMadeAnew(t *testing.T) {
	b := newBench("a", "b")
	b.engine.failing[bootsA] = true
	b.look(t)
	delete(b.engine.failing, bootsA)
	b.restart() // killed in the middle
	expect(t, b.look(t), "remove a", "network n1 10.0.0.0/24", bootsA)
}

func TestAFailureIsToldOnceAndStopsNobodyElse(t *testing.T) {
	b := newBench("a", "b")
	b.engine.failing[bootsA] = true
	if done := strings.Join(b.look(t), ";"); !strings.Contains(done, "make b") {
		t.Errorf("the other server does not boot: %s", done)
	}
	expect(t, b.look(t)) // not at once again
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "remove a", "network n1 10.0.0.0/24", bootsA)
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t)) // the second pause is longer
	delete(b.engine.failing, bootsA)
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "remove a", "network n1 10.0.0.0/24", bootsA)
	var told []string
	for _, line := range b.said {
		if strings.HasPrefix(line, "server a a:") {
			told = append(told, line)
		}
	}
	expect(t, told, "server a a: broken", "server a a: fine again")
}

func TestAServerWaitsForItsAddress(t *testing.T) {
	b := newBench("a")
	b.cloud.state.Ports[0].Addresses = nil
	expect(t, b.look(t))
	b.cloud.state.Ports[0].Addresses = []netip.Addr{netip.MustParseAddr("10.0.0.11")}
	b.now = b.now.Add(time.Second)
	expect(t, b.look(t), "network n1 10.0.0.0/24", bootsA)
}

// A server that is being deleted loses its ports first.
func TestANetworkStaysWhileAContainerIsInIt(t *testing.T) {
	b := newBench("a")
	b.look(t)
	b.status(shutOff)
	b.look(t)
	b.cloud.state.Ports = nil
	expect(t, b.look(t))
	b.vanishServer()
	expect(t, b.look(t), "remove a")
	expect(t, b.look(t), "remove network n1")
	if left := b.engine.wires.Networks; len(left) > 0 {
		t.Errorf("networks that are gone were to be connected: %v", left)
	}
}

func TestPlacesInSeveralNetworks(t *testing.T) {
	b := newBench("a")
	b.cloud.state.Networks = append(b.cloud.state.Networks,
		Network{ID: "n0", Subnet: netip.MustParsePrefix("10.1.0.0/24")})
	port := Port{ID: "p2", Network: "n0", Device: "a", Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.9")}}
	b.cloud.state.Ports = append(b.cloud.state.Ports, port, Port{ID: "p3", Network: "unknown", Device: "a",
		Addresses: port.Addresses})
	expect(t, b.look(t), "network n0 10.1.0.0/24", "network n1 10.0.0.0/24", "make a n0=10.1.0.9,n1=10.0.0.11")
}

func TestFloatingAddressesFollowTheirPorts(t *testing.T) {
	b := newBench("a", "b")
	outside := netip.MustParseAddr("203.0.113.7")
	floating := func(port, fixed string) {
		b.cloud.state.Floating = []FloatingIP{{Address: outside, Fixed: netip.MustParseAddr(fixed), Port: port}}
		b.look(t) // boots, at first
		b.look(t)
	}
	check := func(when, server string, want ...Floating) {
		t.Helper()
		world, _ := b.engine.World(t.Context())
		got, runs := b.engine.wires.Machines[world.container(server).PID]
		if !runs || len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("%s: server %s has %v (%v), want %v", when, server, got, runs, want)
		}
	}
	floating("p-a", "10.0.0.11")
	check("at first", "a", Floating{outside, netip.MustParseAddr("10.0.0.11"), "n1"})
	check("at first", "b")
	floating("p-b", "10.0.0.12")
	check("moved", "a")
	check("moved", "b", Floating{outside, netip.MustParseAddr("10.0.0.12"), "n1"})
	floating("", "10.0.0.12")
	check("taken away", "b")
	if got := b.engine.wires.Taken["n1"]; len(got) != 2 {
		t.Errorf("taken addresses: %v", got)
	}
}

// An address that servers share is reached as long as there is one that may have it.
func TestSharedAddressesAreReached(t *testing.T) {
	b := newBench("a", "b")
	shared := netip.MustParseAddr("10.0.0.9")
	for i := range b.cloud.state.Ports {
		b.cloud.state.Ports[i].Shared = []netip.Addr{shared}
	}
	b.cloud.state.Ports = append(b.cloud.state.Ports, Port{ID: "p-x", Network: "n1", Device: "another",
		Shared: []netip.Addr{netip.MustParseAddr("10.0.0.8")}})
	b.look(t)
	if got := b.engine.wires.Shared; !slices.Equal(got, []netip.Addr{shared}) {
		t.Errorf("reached are %v", got)
	}
	b.vanish()
	b.look(t)
	if got := b.engine.wires.Shared; !slices.Equal(got, []netip.Addr{shared}) {
		t.Errorf("with one server less reached are %v", got)
	}
	b.cloud.state.Ports[0].Shared = nil
	b.look(t)
	if got := b.engine.wires.Shared; len(got) > 0 {
		t.Errorf("without any reached are %v", got)
	}
}

func TestCleanAsksNoCloud(t *testing.T) {
	b := newBench("a", "b")
	b.look(t)
	b.engine.done = nil
	if err := Clean(t.Context(), b.engine, t.Logf); err != nil {
		t.Fatal(err)
	}
	expect(t, b.engine.done, "remove a", "remove b", "remove network n1")
	b.engine.failing["world"] = true
	if Clean(t.Context(), b.engine, t.Logf) == nil {
		t.Error("no error although nothing is known")
	}
}

func TestObservationsLeaveTheCloudToItsUsers(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 2 * time.Second, 100 * time.Millisecond: 2 * time.Second,
		500 * time.Millisecond: 5 * time.Second, time.Minute: 10 * time.Second} {
		if got := period(took); got != want {
			t.Errorf("after an observation of %s it pauses %s, want %s", took, got, want)
		}
	}
}
