package openstack

import (
	"errors"
	"slices"
	"strings"
	"testing"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// The address goes to the machine that is left. It is taken from a port whose machine is gone, and from no other.
func TestTheAddressIsGivenToTheMachineThatIsLeft(t *testing.T) {
	at := func(port string) []inventory.FloatingIP {
		return []inventory.FloatingIP{ip("a", 1, described(ours), tagged, held(port))}
	}
	const given = "203.0.113.1"
	for name, tc := range map[string]struct {
		ips     []inventory.FloatingIP
		machine string // that is left; "old" if empty
		fails   map[string]error
		unknown cloud.Kind
		want    string
		asked   string
		err     string
	}{
		"no port has it": {ips: at(""), want: given, asked: "associate a port-old"},
		"one of the cluster's, without marks": {ips: []inventory.FloatingIP{ip("a", 1)}, want: given,
			asked: "associate a port-old"},
		"the port of a machine that is gone has it": {ips: at("port-lost"), want: given, asked: "associate a port-old"},
		"the machine has it":                        {ips: at("port-old")},
		"a machine that exists has it":              {ips: at("port-new"), err: "is in use by port port-new"},
		"another cluster's has it":                  {ips: at("port-other"), err: "is in use by port port-other"},
		"an unknown port has it":                    {ips: at("x"), err: "is in use by port x"},
		"the project does not have it":              {},
		"the machine has no port for it":            {ips: at(""), machine: "bare", err: "which port of server bare"},
		"the machine has two ports":                 {ips: at(""), machine: "two", err: "which port of server two"},
		"its status is ERROR, its only port without a group": {ips: at("port-lost"), machine: "failed", want: given,
			asked: "associate a port-failed"},
		"its status is ERROR, and it has it": {ips: at("port-failed"), machine: "failed"},
		"a load balancer has it":             {ips: at("vip")},
		"the reserved port has it":           {ips: at("reserved")},
		"no list":                            {fails: map[string]error{"list": errors.New("503")}, err: "503"},
		"no machines known": {ips: at("port-lost"), fails: map[string]error{"inventory": errors.New("503")},
			err: "503"},
		"no servers known": {ips: at("port-lost"), unknown: cloud.KindServer, err: "list the machines"},
		"refused": {ips: at(""), fails: map[string]error{"associate": errors.New("409")}, err: "409",
			asked: "associate a port-old"},
	} {
		t.Run(name, func(t *testing.T) {
			has := machinesThere("ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE")
			server := func(name string) cloud.Ref { return cloud.Ref{Kind: cloud.KindServer, ID: name} }
			port := func(id, description string, of cloud.Ref) cloud.Resource {
				return cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindPort, ID: id}, Description: description,
					Tags: []string{ourTag}, PartOf: of}
			}
			has.Resources = append(has.Resources, port("port-lost", providers, cloud.Ref{}), port("reserved", ours,
				cloud.Ref{}), cloud.Resource{Ref: server("failed"), Name: "failed", Status: "ERROR"},
				port("port-failed", providers, server("failed")), cloud.Resource{Ref: server("two"), Name: "two"},
				port("one", providers, server("two")), port("another", providers, server("two")),
				cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindPort, ID: "vip"},
					PartOf: cloud.Ref{Kind: cloud.KindLoadBalancer, ID: "lb"}})
			if tc.unknown != "" {
				has.Unknown = map[cloud.Kind]error{tc.unknown: errors.New("503")}
			}
			n := &neutron{ips: tc.ips, has: has, fails: tc.fails}
			if tc.machine == "" {
				tc.machine = "old"
			}
			c := controlPlanes{cluster: leftovers.Cluster{Namespace: "ns", Name: "demo"}, endpoint: given,
				connect: connected(n)}
			got, err := c.GiveAddress(t.Context(), tc.machine)
			if got != tc.want || (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q, %v", got, err)
			}
			i := slices.IndexFunc(n.asked, func(a string) bool { return strings.HasPrefix(a, "associate") })
			if i >= 0 != (tc.asked != "") || i >= 0 && n.asked[i] != tc.asked {
				t.Errorf("asked %v", n.asked)
			}
		})
	}
}
