package openstack

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	ofMachine    = "Created by cluster-api-provider-openstack cluster demo"
	otherMachine = ofMachine + "-2"
	conflicted   = "409 Conflict: IP address 10.0.0.9 already allocated in subnet s1"
)

// subnets is a project in memory with two networks of one name, and one with two subnets.
type subnets struct {
	ports []inventory.Port
	fails map[string]error // by request
	// concurrent, if set, is the port that another run makes right before this one does.
	concurrent *inventory.Port
	hidden     bool // ports are not listed, as those of other projects
	lost       bool // the answer to the creation is lost
	asked      []string
}

func (s *subnets) ask(request string) error {
	s.asked = append(s.asked, request)
	return s.fails[strings.Fields(request)[0]]
}

func (s *subnets) Networks(context.Context) ([]cloud.Resource, error) {
	return []cloud.Resource{{Ref: cloud.Ref{ID: "n1"}, Name: "machines"}, {Ref: cloud.Ref{ID: "n2"}, Name: "twin"},
		{Ref: cloud.Ref{ID: "n3"}, Name: "twin"}}, s.ask("networks")
}

func (s *subnets) Subnets(_ context.Context, network string) ([]inventory.Subnet, error) {
	subnet := func(id, name, cidr, gateway string) inventory.Subnet {
		return inventory.Subnet{Resource: cloud.Resource{Ref: cloud.Ref{ID: id}, Name: name}, CIDR: cidr,
			Gateway: gateway}
	}
	return []inventory.Subnet{subnet("s0", "six", "fd00::/64", ""), subnet("s1", "one", "10.0.0.0/24", "10.0.0.1"),
		subnet("s2", "two", "10.0.1.0/28", ""), subnet("s3", "pair", "10.0.2.0/31", "")}, s.ask("subnets " + network)
}

func (s *subnets) PortsAt(_ context.Context, network, address string) ([]inventory.Port, error) {
	at := slices.DeleteFunc(slices.Clone(s.ports), func(p inventory.Port) bool {
		return s.hidden || p.Network != network || !slices.Contains(p.Addresses, address)
	})
	return at, s.ask("list " + address)
}

func (s *subnets) OwnPorts(context.Context) ([]inventory.Port, error) {
	return slices.Clone(s.ports), s.ask("own")
}

func (s *subnets) Reserve(_ context.Context, r cloud.Reservation) (string, error) {
	if s.concurrent != nil {
		s.ports = append(s.ports, *s.concurrent)
	}
	if err := s.ask("reserve " + r.Subnet); err != nil {
		return "", err
	}
	if slices.ContainsFunc(s.ports, func(p inventory.Port) bool {
		return p.Network == r.Network && slices.Contains(p.Addresses, r.Address)
	}) {
		return "", &cloud.Refusal{Code: http.StatusConflict, Message: conflicted}
	}
	s.ports = append(s.ports, port("made", describing(r.Description), func(p *inventory.Port) {
		p.Network, p.Name, p.Addresses = r.Network, r.Name, []string{r.Address}
	}))
	if s.lost {
		return "", &cloud.Refusal{Message: "no answer in time", Temporary: true}
	}
	return "made", nil
}

func (s *subnets) Tag(_ context.Context, r cloud.Resource, tag string) error {
	if err := s.ask("tag " + r.ID); err != nil {
		return err
	}
	for i := range s.ports {
		if s.ports[i].ID == r.ID {
			s.ports[i].Tags = append(s.ports[i].Tags, tag)
		}
	}
	return nil
}

func (s *subnets) Delete(_ context.Context, r cloud.Resource) (bool, error) {
	if err := s.ask("delete " + r.ID); err != nil {
		return false, err
	}
	s.ports = slices.DeleteFunc(s.ports, func(p inventory.Port) bool { return p.ID == r.ID })
	return true, nil
}

func (s *subnets) ids() string {
	var ids []string
	for _, p := range s.ports {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// changed returns the requests that change something.
func (s *subnets) changed() []string {
	return slices.DeleteFunc(slices.Clone(s.asked), func(asked string) bool {
		return !slices.Contains([]string{"reserve", "tag", "delete"}, strings.Fields(asked)[0])
	})
}

// port is one of the project with the address 10.0.0.9, which nothing has.
func port(id string, with ...func(*inventory.Port)) inventory.Port {
	p := inventory.Port{Resource: cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindPort, ID: id}, Project: "p"},
		Network: "n1", Addresses: []string{"10.0.0.9"}}
	for _, change := range with {
		change(&p)
	}
	return p
}

func describing(text string) func(*inventory.Port) {
	return func(p *inventory.Port) { p.Description = text }
}

func carrying(tag string) func(*inventory.Port) {
	return func(p *inventory.Port) { p.Tags = append(p.Tags, tag) }
}

func device(id, owner string) func(*inventory.Port) {
	return func(p *inventory.Port) { p.Device, p.Owner = id, owner }
}

func addressed(address string) func(*inventory.Port) {
	return func(p *inventory.Port) { p.Addresses = []string{address} }
}

func allowing(address string) func(*inventory.Port) {
	return func(p *inventory.Port) { p.Pairs = append(p.Pairs, address) }
}

func reservationIn(s *subnets) reservation {
	return reservation{project: s, projectID: "p", network: "machines", address: "10.0.0.9",
		cluster: leftovers.Cluster{Namespace: "ns", Name: "demo"}}
}

// Whatever there is, the address has one port afterwards, and each run finds the same one.
func TestTheVirtualAddressIsReservedOnce(t *testing.T) {
	mine := port("mine", describing(ours), carrying(ourTag))
	for name, tc := range map[string]struct {
		ports      []inventory.Port
		concurrent *inventory.Port
		left       string // what the project has then
		changed    string
	}{
		"nothing": {left: "made", changed: "reserve s1, tag made"},
		"other addresses, and other networks": {ports: []inventory.Port{port("a", addressed("10.0.0.8")),
			port("b", device("x", "compute:nova"), func(p *inventory.Port) { p.Network = "n2" })},
			left: "a b made", changed: "reserve s1, tag made"},
		"it is there":           {ports: []inventory.Port{mine}, left: "mine"},
		"killed before the tag": {ports: []inventory.Port{port("mine", describing(ours))}, left: "mine", changed: "tag mine"},
		"another description": {ports: []inventory.Port{port("mine", describing("edge"), carrying(ourTag))},
			left: "mine"},
		"the user's": {ports: []inventory.Port{port("users", describing("for the API"), carrying("team"))}, left: "users"},
		"the user's, of the machines that there are": {ports: []inventory.Port{port("users"), port("cp",
			addressed("10.0.0.5"), allowing("10.0.0.9"), describing(ofMachine), device("s", "compute:nova")),
			port("web", addressed("10.0.0.6"), allowing("10.0.0.0/24"))}, left: "users cp web"},
		"another run was faster": {concurrent: &mine, left: "mine",
			changed: "reserve s1"},
		"another run was faster, and has not tagged it": {concurrent: new(port("mine", describing(ours))), left: "mine",
			changed: "reserve s1, tag mine"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &subnets{ports: tc.ports, concurrent: tc.concurrent}
			r := reservationIn(s)
			found, err := r.make(t.Context())
			if err != nil || found.Address != "10.0.0.9" || !found.Marked || found.Foreign || s.ids() != tc.left ||
				strings.Join(s.changed(), ", ") != tc.changed {
				t.Fatalf("%+v, %v, %q is left, %q", found, err, s.ids(), s.changed())
			}
			s.asked, s.concurrent = nil, nil
			if again, err := r.make(t.Context()); err != nil || !again.Marked || s.ids() != tc.left {
				t.Errorf("again: %+v, %v, %q is left", again, err, s.ids())
			}
			if looked, err := r.find(t.Context()); err != nil || looked.Address != "10.0.0.9" || !looked.Marked {
				t.Errorf("an observation: %+v, %v", looked, err)
			}
			if changed := s.changed(); len(changed) > 0 {
				t.Errorf("the second time it changes something: %q", changed)
			}
		})
	}
}

// An observation reserves nothing, and says when a run that was killed has not finished.
func TestAnObservationReservesNothing(t *testing.T) {
	s := &subnets{}
	if found, err := reservationIn(s).find(t.Context()); err != nil || found.Address != "" {
		t.Errorf("%+v, %v", found, err)
	}
	s.ports = []inventory.Port{port("mine", describing(ours))}
	if found, err := reservationIn(s).find(t.Context()); err != nil || found.Address == "" || found.Marked {
		t.Errorf("%+v, %v", found, err)
	}
	if changed := s.changed(); len(changed) > 0 {
		t.Errorf("it changes something: %q", changed)
	}
}

// What cannot be used is refused by its name, before anything is changed. An unknown answer is not an absence.
func TestVirtualAddressesThatAreRefused(t *testing.T) {
	silent := &cloud.Refusal{Message: "no answer in time", Temporary: true}
	forbidden := &cloud.Refusal{Code: http.StatusForbidden, Message: "403 Forbidden"}
	for name, tc := range map[string]struct {
		ports   []inventory.Port
		change  func(*reservation)
		fails   map[string]error
		hidden  bool
		code    fault.Code
		says    string
		hint    string
		retry   bool
		reserve bool // it is refused by the cloud
	}{
		"outside": {change: func(r *reservation) { r.address = "10.0.3.9" }, code: fault.CloudLacks,
			says: `10.0.3.9 of the API server is in no subnet that the machines have in network "machines"; there are: ` +
				"fd00::/64, 10.0.0.0/24"},
		"outside of the subnet that is given": {change: func(r *reservation) { r.subnet = "two" }, code: fault.CloudLacks,
			says: "is in no subnet that the machines have in network \"machines\"; there are: 10.0.1.0/28"},
		"the gateway": {change: func(r *reservation) { r.address = "10.0.0.1" }, code: fault.CloudLacks,
			says: "10.0.0.1 of the API server is the gateway of subnet one", hint: "fixed_ip"},
		"the network address": {change: func(r *reservation) { r.address = "10.0.1.0" }, code: fault.CloudLacks,
			says: "is the network address of subnet two"},
		"the broadcast address": {change: func(r *reservation) { r.address = "10.0.1.15" }, code: fault.CloudLacks,
			says: "is the broadcast address of subnet two"},
		"no such subnet": {change: func(r *reservation) { r.subnet = "three" }, code: fault.CloudLacks,
			says: `0 subnets called "three"`, hint: "cluster.openstack.subnet"},
		"no such network": {change: func(r *reservation) { r.network = "other" }, code: fault.CloudLacks,
			says: `0 networks called "other"`, hint: "cluster.openstack.network"},
		"two networks of one name": {change: func(r *reservation) { r.network = "twin" }, code: fault.CloudLacks,
			says: `2 networks called "twin"`},
		"a server has it": {ports: []inventory.Port{port("web", device("server-7", "compute:nova"))},
			code: fault.CloudLacks, says: `in use by port web of device "server-7" (compute:nova)`},
		"a machine of this cluster has it": {ports: []inventory.Port{port("cp", describing(ofMachine), carrying(ourTag),
			device("server-7", "compute:nova"))}, code: fault.CloudLacks, says: `in use by port cp of device "server-7"`},
		"a machine of this cluster will have it": {ports: []inventory.Port{port("cp", describing(ofMachine),
			carrying(ourTag))}, code: fault.CloudLacks, says: "port cp, which Cluster API's provider made for a machine"},
		"ours, but a server has it": {ports: []inventory.Port{port("mine", describing(ours), carrying(ourTag),
			device("server-7", "compute:nova"))}, code: fault.CloudLacks, says: `in use by port mine of device "server-7"`},
		"an owner without device": {ports: []inventory.Port{port("dhcp", device("", "network:dhcp"))},
			code: fault.CloudLacks, says: "network:dhcp"},
		"another cluster's reservation": {ports: []inventory.Port{port("b", describing(otherOurs))}, code: fault.CloudLacks,
			says: "in use by port b, which is marked as that of cluster ns-demo-2"},
		"another cluster's tag": {ports: []inventory.Port{port("b", carrying(ourTag+"-2"))}, code: fault.CloudLacks,
			says: "that of cluster ns-demo-2"},
		"another project's": {ports: []inventory.Port{port("b", func(p *inventory.Port) { p.Project = "q" })},
			code: fault.CloudLacks, says: "in use by port b of another project"},
		"a virtual address of others": {ports: []inventory.Port{port("vip"), port("web", addressed("10.0.0.5"),
			allowing("10.0.0.9"), device("server-7", "compute:nova"))}, code: fault.CloudLacks,
			says: `10.0.0.9 of the API server is a virtual address of port web already, of device "server-7"`},
		"a virtual address of others, not reserved": {ports: []inventory.Port{port("web", addressed("10.0.0.5"),
			allowing("10.0.0.9/32"), describing(otherMachine))}, code: fault.CloudLacks, says: "of port web already"},
		"own ports are silent": {fails: map[string]error{"own": silent}, code: fault.CloudUnreachable,
			says: "list the ports: no answer in time", retry: true},
		"a port that is hidden has it": {ports: []inventory.Port{port("b")}, hidden: true, code: fault.CloudLacks,
			says: `reserve the address 10.0.0.9 in network "machines": ` + conflicted, hint: "this project's", reserve: true},
		"the network is another project's": {fails: map[string]error{"reserve": forbidden}, code: fault.CloudLacks,
			says: `reserve the address 10.0.0.9 in network "machines": 403`, hint: "this project's", reserve: true},
		"no answer to the creation": {fails: map[string]error{"reserve": silent}, code: fault.CloudUnreachable,
			says: "no answer in time", hint: "finds the port by its description", retry: true, reserve: true},
		"no networks": {fails: map[string]error{"networks": silent}, code: fault.CloudUnreachable,
			says: "list the networks: no answer in time", retry: true},
		"no subnets": {fails: map[string]error{"subnets": silent}, code: fault.CloudUnreachable,
			says: "list the subnets of network machines", retry: true},
		"no ports": {fails: map[string]error{"list": silent}, code: fault.CloudUnreachable,
			says: "list the ports with the address 10.0.0.9", retry: true},
		"ports are forbidden": {fails: map[string]error{"list": forbidden}, code: fault.CloudUnreachable,
			says: "list the ports with the address 10.0.0.9: 403", retry: true},
		"credentials": {fails: map[string]error{"list": &cloud.Refusal{Code: 401, Message: "401"}},
			code: fault.CloudRefused, says: "401"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &subnets{ports: tc.ports, fails: tc.fails, hidden: tc.hidden}
			r := reservationIn(s)
			if tc.change != nil {
				tc.change(&r)
			}
			before := s.ids()
			_, err := r.make(t.Context())
			if err == nil || fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) ||
				!strings.Contains(fault.HintOf(err), tc.hint) || fault.HintOf(err) == "" ||
				fault.CanRetry(err) != tc.retry {
				t.Errorf("%v\ncode %s, hint %q, retry %t", err, fault.CodeOf(err), fault.HintOf(err),
					fault.CanRetry(err))
			}
			if changed := s.changed(); s.ids() != before || !tc.reserve && len(changed) > 0 || len(changed) > 1 {
				t.Errorf("it changed something: %q, %q", s.ids(), changed)
			}
		})
	}
	// Both addresses of a pair are hosts, and a subnet need not have a gateway.
	for _, address := range []string{"10.0.2.0", "10.0.2.1", "10.0.1.1", "10.0.1.14"} {
		r := reservationIn(&subnets{})
		r.address = address
		if _, err := r.place(t.Context()); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A port whose creation was not answered, or whose tag could not be set, is finished by the next run.
func TestAnInterruptedReservation(t *testing.T) {
	s := &subnets{lost: true}
	if _, err := reservationIn(s).make(t.Context()); !fault.CanRetry(err) || s.ids() != "made" {
		t.Fatalf("%v, %q", err, s.ids())
	}
	s.fails = map[string]error{"tag": errors.New("500")}
	if _, err := reservationIn(s).make(t.Context()); err == nil || !strings.Contains(err.Error(), "tag port made: 500") {
		t.Fatal(err)
	}
	s.fails, s.asked = nil, nil
	if found, err := reservationIn(s).make(t.Context()); err != nil || !found.Marked || s.ids() != "made" ||
		!slices.Equal(s.changed(), []string{"tag made"}) || !slices.Equal(s.ports[0].Tags, []string{ourTag}) {
		t.Errorf("%+v, %v, %q", found, err, s.changed())
	}
}

// Ports of this cluster's API server are deleted, also one with a former address, and no port of a machine or a user.
func TestTheReservationIsDeletedByProof(t *testing.T) {
	s := &subnets{ports: []inventory.Port{port("users"), port("other", describing(otherOurs)),
		port("cp", describing(ofMachine), carrying(ourTag), addressed("10.0.0.20"), device("server-7", "compute:nova")),
		port("named", describing("by the user's definition"), carrying(ourTag), addressed("10.0.0.21")),
		port("a", describing(ours)), port("b", describing("edge"), carrying(ourTag)),
		port("former", describing(ours), carrying(ourTag), addressed("10.0.0.8"))}}
	deleted, err := reservationIn(s).delete(t.Context())
	if err != nil || !slices.Equal(deleted, []string{"10.0.0.9", "10.0.0.9", "10.0.0.8"}) ||
		s.ids() != "users other cp named" {
		t.Errorf("%v, %v, %q is left", deleted, err, s.ids())
	}
	s = &subnets{ports: []inventory.Port{port("a", describing(ours), device("server-7", "compute:nova"))}}
	if _, err := reservationIn(s).delete(t.Context()); fault.CodeOf(err) != fault.CleanupFailed || s.ids() != "a" ||
		!strings.Contains(err.Error(), "device server-7") {
		t.Errorf("one that a server has: %v, %q is left", err, s.ids())
	}
	s = &subnets{ports: []inventory.Port{port("a", describing(ours))},
		fails: map[string]error{"delete": cloud.ErrNotFound}}
	if _, err := reservationIn(s).delete(t.Context()); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
	s = &subnets{fails: map[string]error{"own": &cloud.Refusal{Code: 500}}}
	if _, err := reservationIn(s).delete(t.Context()); err == nil {
		t.Error("an unknown list counts as empty")
	}
}
