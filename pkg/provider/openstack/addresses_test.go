package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	ourTag      = "cluster-init:cluster=ns-demo"
	ours        = "Created by cluster-init for the API server of cluster ns-demo"
	providers   = "Created by cluster-api-provider-openstack cluster ns-demo"
	otherOurs   = "Created by cluster-init for the API server of cluster ns-demo-2"
	outside     = "net-1"
	anotherSide = "net-2"
)

// neutron is a project in memory.
type neutron struct {
	ips   []inventory.FloatingIP
	ports map[string]cloud.Resource
	fails map[string]error // by request
	// beside, if set, is what another run makes while this one does.
	beside *inventory.FloatingIP
	has    cloud.Inventory
	noID   bool // the answer to the creation has no ID
	asked  []string
}

func (n *neutron) ask(request string) error {
	n.asked = append(n.asked, request)
	return n.fails[strings.Fields(request)[0]]
}

func (n *neutron) FloatingIPs(context.Context) ([]inventory.FloatingIP, error) {
	return slices.Clone(n.ips), n.ask("list")
}

func (n *neutron) ExternalNetworks(context.Context) ([]cloud.Resource, error) {
	return []cloud.Resource{{Ref: cloud.Ref{ID: outside}, Name: "public"}, {Ref: cloud.Ref{ID: anotherSide}, Name: "twin"},
		{Ref: cloud.Ref{ID: "net-3"}, Name: "twin"}}, n.ask("networks")
}

func (n *neutron) Port(_ context.Context, id string) (cloud.Resource, error) {
	if err := n.ask("port " + id); err != nil {
		return cloud.Resource{}, err
	}
	port, there := n.ports[id]
	if !there {
		return cloud.Resource{}, cloud.ErrNotFound
	}
	return port, nil
}

func (n *neutron) MakeFloatingIP(_ context.Context, network, description string) (string, error) {
	if err := n.ask("make " + network + " " + description); err != nil {
		return "", err
	}
	n.ips = append(n.ips, ip("made", 9, at(network), described(description)))
	if n.beside != nil {
		n.ips = append(n.ips, *n.beside)
	}
	if n.noID {
		return "", nil
	}
	return "made", nil
}

func (n *neutron) Tag(_ context.Context, r cloud.Resource, tag string) error {
	for i := range n.ips {
		if n.ips[i].ID == r.ID {
			n.ips[i].Tags = append(n.ips[i].Tags, tag)
		}
	}
	return n.ask("tag " + r.ID)
}

func (n *neutron) Delete(_ context.Context, r cloud.Resource) (bool, error) {
	if err := n.ask("delete " + r.ID); err != nil {
		return false, err
	}
	n.ips = slices.DeleteFunc(n.ips, func(ip inventory.FloatingIP) bool { return ip.ID == r.ID })
	return true, nil
}

func (n *neutron) Associate(_ context.Context, floatingIP, port cloud.Resource) error {
	return n.ask("associate " + floatingIP.ID + " " + port.ID)
}

func (n *neutron) Inventory(context.Context) (cloud.Inventory, error) {
	return n.has, n.ask("inventory")
}

func (n *neutron) ids() string {
	var ids []string
	for _, ip := range n.ips {
		ids = append(ids, ip.ID)
	}
	return strings.Join(ids, " ")
}

// ip is a floating IP in the external network, made at that minute. Its address follows the minute.
func ip(id string, minute int, with ...func(*inventory.FloatingIP)) inventory.FloatingIP {
	made := inventory.FloatingIP{Resource: cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindFloatingIP, ID: id},
		Name: fmt.Sprintf("203.0.113.%d", minute), Status: "DOWN",
		Created: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}, Network: outside}
	for _, change := range with {
		change(&made)
	}
	return made
}

func described(text string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Description = text }
}

func tagged(ip *inventory.FloatingIP) { ip.Tags = append(ip.Tags, ourTag) }

func at(network string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Network = network }
}

func held(port string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Port = port }
}

func broken(ip *inventory.FloatingIP) { ip.Status = "ERROR" }

func addressesIn(n *neutron, given string) addresses {
	return addresses{project: n, network: "public", given: given, cluster: leftovers.Cluster{Namespace: "ns", Name: "demo"}}
}

// ourPorts are those of the cluster's machines, with their tag or, in a user's own definition, without.
func ourPorts() map[string]cloud.Resource {
	return map[string]cloud.Resource{"cp": {Tags: []string{ourTag}},
		"untagged": {Description: "Created by cluster-api-provider-openstack cluster demo"},
		"strange":  {Description: "web"}, "other": {Tags: []string{"cluster-init:cluster=ns-demo-2"}}}
}

// Whatever there is, there is one address afterwards, and each run finds the same one.
func TestTheAddressIsMadeOnce(t *testing.T) {
	mine := described(ours)
	for name, tc := range map[string]struct {
		ips      []inventory.FloatingIP
		given    string
		beside   *inventory.FloatingIP
		noID     bool
		want     string // the address
		left     string // what the project has then
		foreign  bool
		warnings int
	}{
		"nothing":               {want: "203.0.113.9", left: "made"},
		"half an answer":        {noID: true, want: "203.0.113.9", left: "made"},
		"those of others":       {ips: []inventory.FloatingIP{ip("a", 1), ip("b", 2, described(otherOurs))}, want: "203.0.113.9", left: "a b made"},
		"it is there":           {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged)}, want: "203.0.113.1", left: "a"},
		"a machine has it":      {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged, held("cp"))}, want: "203.0.113.1", left: "a"},
		"at a port without tag": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged, held("untagged"))}, want: "203.0.113.1", left: "a"},
		"killed before the tag": {ips: []inventory.FloatingIP{ip("a", 1, mine)}, want: "203.0.113.1", left: "a"},
		"another description":   {ips: []inventory.FloatingIP{ip("a", 1, tagged, described("edge"))}, want: "203.0.113.1", left: "a"},
		"another run was faster": {beside: new(ip("a", 1, mine)), want: "203.0.113.1",
			left: "a"},
		"another run was later":          {beside: new(ip("a", 10, mine)), want: "203.0.113.9", left: "made a", warnings: 1},
		"at the same time, the lower ID": {beside: new(ip("a", 9, mine)), want: "203.0.113.9", left: "a"},
		"two of a killed run": {ips: []inventory.FloatingIP{ip("b", 2, mine), ip("a", 1, mine, tagged)},
			want: "203.0.113.1", left: "b a", warnings: 1},
		"two, and a machine has the later": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged),
			ip("b", 2, mine, tagged, held("cp"))}, want: "203.0.113.2", left: "a b", warnings: 1},
		"the one that was given": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged), ip("b", 2, mine, tagged)},
			given: "203.0.113.2", want: "203.0.113.2", left: "a b"},
		"the one that was given, elsewhere": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged, at(anotherSide))},
			given: "203.0.113.1", want: "203.0.113.1", left: "a"},
		"the one that an administrator made again": {ips: []inventory.FloatingIP{ip("a", 1, held("cp"))},
			given: "203.0.113.1", want: "203.0.113.1", left: "a"},
		"the provider's, at a machine": {ips: []inventory.FloatingIP{ip("a", 1, tagged, described(providers), held("cp"))},
			foreign: true, left: "a"},
		"the provider's, left behind": {ips: []inventory.FloatingIP{ip("a", 1, tagged, described(providers))},
			want: "203.0.113.9", left: "a made"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &neutron{ips: tc.ips, beside: tc.beside, noID: tc.noID, ports: ourPorts()}
			a := addressesIn(n, tc.given)
			found, err := a.make(t.Context())
			if err != nil || found.Address != tc.want || found.Foreign != tc.foreign || n.ids() != tc.left ||
				len(found.Warnings) != tc.warnings {
				t.Fatalf("%+v, %v, %q is left", found, err, n.ids())
			}
			n.asked = nil
			again, err := a.make(t.Context())
			if err != nil || again.Address != tc.want || n.ids() != tc.left {
				t.Errorf("again: %+v, %v, %q is left", again, err, n.ids())
			}
			if looked, _, err := a.find(t.Context()); err != nil || looked.Address != tc.want || looked.Marked != (tc.want != "") {
				t.Errorf("an observation: %+v, %v", looked, err)
			}
			for _, asked := range n.asked {
				if strings.HasPrefix(asked, "make") || strings.HasPrefix(asked, "tag") || strings.HasPrefix(asked, "delete") {
					t.Errorf("the second time it changes something: %s", asked)
				}
			}
		})
	}
}

// What cannot be used is refused by its name, before anything is changed.
func TestAddressesThatAreRefused(t *testing.T) {
	mine := described(ours)
	refused := func(code int, message string) error { return &cloud.Refusal{Code: code, Message: message} }
	silent := &cloud.Refusal{Message: "no answer in time", Temporary: true}
	for name, tc := range map[string]struct {
		ips     []inventory.FloatingIP
		given   string
		network string
		fails   map[string]error
		code    fault.Code
		says    string
		hint    string
		retry   bool
	}{
		"another network": {ips: []inventory.FloatingIP{ip("a", 1, mine, at(anotherSide))}, code: fault.CloudLacks,
			says: `203.0.113.1 was made for the API server in another external network than "public"`, hint: "delete a"},
		"status ERROR": {ips: []inventory.FloatingIP{ip("a", 1, mine, broken)}, code: fault.CloudLacks,
			says: "203.0.113.1 of the API server has the status ERROR"},
		"at a port of others": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("strange"))}, code: fault.CloudLacks,
			says: "in use by port strange, which is not this cluster's", hint: "unset --port a"},
		"at a port of another cluster": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("other"))},
			code: fault.CloudLacks, says: "in use by port other"},
		"at a port that is hidden": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("hidden"))}, code: fault.CloudLacks,
			says: "in use by port hidden"},
		"two in use": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("cp")), ip("b", 2, mine, held("cp"))},
			code: fault.CloudLacks, says: "203.0.113.1 and 203.0.113.2 were both made for the API server"},
		"deleted by hand": {ips: []inventory.FloatingIP{ip("a", 1, mine)}, given: "203.0.113.7", code: fault.CloudLacks,
			says: "the cluster has the floating IP 203.0.113.7, and the project has no such one",
			hint: "--floating-ip-address 203.0.113.7"},
		"the one that was given is broken": {ips: []inventory.FloatingIP{ip("a", 1, mine, broken)}, given: "203.0.113.1",
			code: fault.CloudLacks, says: "status ERROR"},
		"no list": {fails: map[string]error{"list": silent}, code: fault.CloudUnreachable,
			says: "list the floating IPs: no answer in time", retry: true},
		"no networks": {fails: map[string]error{"networks": silent}, code: fault.CloudUnreachable,
			says: "list the external networks", retry: true},
		"no such network": {network: "private", code: fault.CloudLacks, says: `0 external networks called "private"`},
		"two networks of one name": {network: "twin", code: fault.CloudLacks,
			says: `2 external networks called "twin"`},
		"an unknown port": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("cp"))},
			fails: map[string]error{"port": refused(500, "500 Internal Server Error")}, code: fault.CloudUnreachable,
			says: "read the port of floating IP 203.0.113.1: 500", retry: true},
		"quota": {fails: map[string]error{"make": refused(http.StatusConflict,
			"409 Conflict: Quota exceeded for resources: ['floatingip'].")}, code: fault.CloudLacks,
			says: `make a floating IP in external network "public": 409 Conflict: Quota exceeded`,
			hint: "Delete unused floating IPs"},
		"no answer to the creation": {fails: map[string]error{"make": silent}, code: fault.CloudUnreachable,
			says: "make a floating IP", hint: "finds the floating IP by its description", retry: true},
		"credentials": {fails: map[string]error{"list": refused(http.StatusUnauthorized, "401 Unauthorized")},
			code: fault.CloudRefused, says: "401"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &neutron{ips: tc.ips, fails: tc.fails, ports: ourPorts()}
			a := addressesIn(n, tc.given)
			if tc.network != "" {
				a.network = tc.network
			}
			before := n.ids()
			_, err := a.make(t.Context())
			if err == nil || fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) ||
				!strings.Contains(fault.HintOf(err), tc.hint) || fault.HintOf(err) == "" || fault.CanRetry(err) != tc.retry {
				t.Errorf("%v\ncode %s, hint %q, retry %t", err, fault.CodeOf(err), fault.HintOf(err), fault.CanRetry(err))
			}
			if n.ids() != before || slices.ContainsFunc(n.asked, func(a string) bool { return strings.HasPrefix(a, "tag") }) {
				t.Errorf("it changed something: %q, %v", n.ids(), n.asked)
			}
		})
	}
}

// A floating IP whose tag could not be set is finished by the next run.
func TestATagThatIsMissing(t *testing.T) {
	n := &neutron{fails: map[string]error{"tag": errors.New("500")}}
	if _, err := addressesIn(n, "").make(t.Context()); err == nil || !strings.Contains(err.Error(), "tag floating IP") {
		t.Fatal(err)
	}
	n.fails, n.ips[0].Tags = nil, nil
	if found, _, err := addressesIn(n, "").find(t.Context()); err != nil || found.Marked {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := addressesIn(n, "").make(t.Context()); err != nil || !found.Marked || n.ids() != "made" ||
		!slices.Equal(n.ips[0].Tags, []string{ourTag}) {
		t.Errorf("%+v, %v, %v", found, err, n.ips)
	}
}

// Only what was made for this cluster is deleted, and nothing that a port has.
func TestTheAddressIsDeletedByProof(t *testing.T) {
	n := &neutron{ips: []inventory.FloatingIP{ip("users", 1), ip("other", 2, described(otherOurs)),
		ip("providers", 3, tagged, described(providers)), ip("a", 4, described(ours)), ip("b", 5, described(ours), tagged),
		ip("two", 6, described(ours), func(ip *inventory.FloatingIP) { ip.Tags = []string{"cluster-init:cluster=ns-demo-2"} })}}
	deleted, err := addressesIn(n, "").delete(t.Context())
	if err != nil || !slices.Equal(deleted, []string{"203.0.113.4", "203.0.113.5"}) || n.ids() != "users other providers two" {
		t.Errorf("%v, %v, %q is left", deleted, err, n.ids())
	}
	n = &neutron{ips: []inventory.FloatingIP{ip("a", 1, described(ours), held("cp"))}}
	if _, err := addressesIn(n, "").delete(t.Context()); fault.CodeOf(err) != fault.CleanupFailed || n.ids() != "a" {
		t.Errorf("one that a machine has: %v, %q is left", err, n.ids())
	}
	n = &neutron{ips: []inventory.FloatingIP{ip("a", 1, described(ours))}, fails: map[string]error{
		"delete": cloud.ErrNotFound}}
	if _, err := addressesIn(n, "").delete(t.Context()); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
	n = &neutron{fails: map[string]error{"list": &cloud.Refusal{Code: 500}}}
	if _, err := addressesIn(n, "").delete(t.Context()); err == nil {
		t.Error("what is not known counts as nothing")
	}
}
