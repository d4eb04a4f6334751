package openstack

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// Whatever there is, there is one address afterwards, and each run finds the same one.
func TestTheAddressIsMadeOnce(t *testing.T) {
	mine := described(ours)
	for name, tc := range map[string]struct {
		ips        []inventory.FloatingIP
		given      string
		concurrent *inventory.FloatingIP
		noID       bool
		want       string // the address
		left       string // what the project has then
		foreign    bool
		warnings   int
	}{
		"nothing":        {want: "203.0.113.9", left: "made"},
		"half an answer": {noID: true, want: "203.0.113.9", left: "made"},
		"those of others": {ips: []inventory.FloatingIP{ip("a", 1), ip("b", 2, described(otherOurs))},
			want: "203.0.113.9", left: "a b made"},
		"it is there": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged)}, want: "203.0.113.1",
			left: "a"},
		"a machine has it": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged, held("cp"))},
			want: "203.0.113.1", left: "a"},
		"at a port without tag": {ips: []inventory.FloatingIP{ip("a", 1, mine, tagged, held("untagged"))},
			want: "203.0.113.1", left: "a"},
		"killed before the tag": {ips: []inventory.FloatingIP{ip("a", 1, mine)}, want: "203.0.113.1", left: "a"},
		"another description": {ips: []inventory.FloatingIP{ip("a", 1, tagged, described("edge"))},
			want: "203.0.113.1", left: "a"},
		"another run was faster": {concurrent: new(ip("a", 1, mine)), want: "203.0.113.1",
			left: "a"},
		"another run was later": {concurrent: new(ip("a", 10, mine)), want: "203.0.113.9", left: "made a",
			warnings: 1},
		"at the same time, the lower ID": {concurrent: new(ip("a", 9, mine)), want: "203.0.113.9", left: "a"},
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
		"the provider's, at a machine": {ips: []inventory.FloatingIP{ip("a", 1, tagged, described(providers),
			held("cp"))},
			foreign: true, left: "a"},
		"the provider's, left behind": {ips: []inventory.FloatingIP{ip("a", 1, tagged, described(providers))},
			want: "203.0.113.9", left: "a made"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &neutron{ips: tc.ips, concurrent: tc.concurrent, noID: tc.noID, ports: ourPorts()}
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
			if looked, err := a.find(t.Context()); err != nil || looked.Address != tc.want ||
				looked.Marked != (tc.want != "") {
				t.Errorf("an observation: %+v, %v", looked, err)
			}
			for _, asked := range n.asked {
				if strings.HasPrefix(asked, "make") || strings.HasPrefix(asked, "tag") || strings.HasPrefix(asked,
					"delete") {
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
		"at a port that is hidden": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("hidden"))},
			code: fault.CloudLacks,
			says: "in use by port hidden"},
		"two in use": {ips: []inventory.FloatingIP{ip("a", 1, mine, held("cp")), ip("b", 2, mine, held("cp"))},
			code: fault.CloudLacks, says: "203.0.113.1 and 203.0.113.2 were both made for the API server"},
		"deleted by hand": {ips: []inventory.FloatingIP{ip("a", 1, mine)}, given: "203.0.113.7", code: fault.CloudLacks,
			says: "the cluster has the floating IP 203.0.113.7, and the project has no such one",
			hint: "--floating-ip-address 203.0.113.7"},
		"the one that was given is broken": {ips: []inventory.FloatingIP{ip("a", 1, mine, broken)},
			given: "203.0.113.1",
			code:  fault.CloudLacks, says: "status ERROR"},
		"the one that was given is another cluster's": {ips: []inventory.FloatingIP{ip("a", 1, described(otherOurs))},
			given: "203.0.113.1", code: fault.CloudLacks, says: "203.0.113.1, which was made for the API server of"},
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
				!strings.Contains(fault.HintOf(err), tc.hint) || fault.HintOf(err) == "" ||
				fault.CanRetry(err) != tc.retry {
				t.Errorf("%v\ncode %s, hint %q, retry %t", err, fault.CodeOf(err), fault.HintOf(err),
					fault.CanRetry(err))
			}
			if n.ids() != before || slices.ContainsFunc(n.asked, func(a string) bool {
				return strings.HasPrefix(a,
					"tag")
			}) {
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
	if found, err := addressesIn(n, "").find(t.Context()); err != nil || found.Marked {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := addressesIn(n, "").make(t.Context()); err != nil || !found.Marked || n.ids() != "made" ||
		!slices.Equal(n.ips[0].Tags, []string{ourTag}) {
		t.Errorf("%+v, %v, %v", found, err, n.ips)
	}
}

// Floating IPs of this cluster are deleted, unless a port has them.
func TestTheAddressIsDeletedByProof(t *testing.T) {
	n := &neutron{ips: []inventory.FloatingIP{ip("users", 1), ip("other", 2, described(otherOurs)),
		ip("providers", 3, tagged, described(providers)), ip("a", 4, described(ours)), ip("b", 5, described(ours),
			tagged),
		ip("two", 6, described(ours),
			func(ip *inventory.FloatingIP) { ip.Tags = []string{"cluster-init:cluster=ns-demo-2"} })}}
	deleted, err := addressesIn(n, "").delete(t.Context())
	if err != nil || !slices.Equal(deleted, []string{"203.0.113.4", "203.0.113.5"}) ||
		n.ids() != "users other providers two" {
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
		t.Error("an unknown list counts as empty")
	}
}
