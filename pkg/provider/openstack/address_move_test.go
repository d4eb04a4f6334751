package openstack

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// machines are two control-plane machines and a worker of the cluster, and one of another cluster, each with a port.
func machinesThere(states ...string) cloud.Inventory {
	has := cloud.Inventory{Resources: []cloud.Resource{
		{Ref: cloud.Ref{Kind: cloud.KindSecurityGroup, ID: "cps"}, Name: "k8s-cluster-ns-demo-secgroup-controlplane"},
		{Ref: cloud.Ref{Kind: cloud.KindSecurityGroup, ID: "workers"}, Name: "k8s-cluster-ns-demo-secgroup-worker"}}}
	for i, name := range []string{"old", "new", "worker", "other"} {
		server := cloud.Ref{Kind: cloud.KindServer, ID: name}
		port := cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindPort, ID: "port-" + name}, Tags: []string{ourTag},
			PartOf: server, Uses: []cloud.Ref{{Kind: cloud.KindSecurityGroup, ID: "cps"}}}
		switch name {
		case "worker":
			port.Uses[0].ID = "workers"
		case "other":
			port.Tags = []string{ourTag + "-2"}
		}
		has.Resources = append(has.Resources, cloud.Resource{Ref: server, Name: name, Status: states[i],
			Created: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)}, port)
	}
	return has
}

// The address goes to the youngest control-plane machine that runs, has joined and stays, if no port has it, or that of
// a machine of which this is not known. A machine that joins through the address must not get it.
func TestAnAddressWithoutAMachineIsGivenToOne(t *testing.T) {
	free := []inventory.FloatingIP{ip("a", 1, described(ours), tagged)}
	at := func(port string) []inventory.FloatingIP {
		return []inventory.FloatingIP{ip("a", 1, described(ours), tagged, held(port))}
	}
	active := []string{"ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE"}
	both := []string{"old", "new", "worker"}
	for name, tc := range map[string]struct {
		ips    []inventory.FloatingIP
		states []string
		joined []string
		fails  map[string]error
		want   string
		asked  string
		err    string
	}{
		"no port has it": {ips: free, states: active, joined: both, want: "new",
			asked: "associate a port-new"},
		"no port has it, nothing is known": {ips: free, states: active, want: "new",
			asked: "associate a port-new"},
		"no port has it, the youngest joins": {ips: free, states: active, joined: []string{"old"}, want: "old",
			asked: "associate a port-old"},
		"no port has it, and none has joined": {ips: free, states: active, joined: []string{}},
		"only one runs": {ips: free, states: []string{"ACTIVE", "SHUTOFF", "ACTIVE", "ACTIVE"}, joined: both,
			want: "old", asked: "associate a port-old"},
		"none runs":                       {ips: free, states: []string{"ERROR", "BUILD", "ACTIVE", "ACTIVE"}},
		"a port has it":                   {ips: at("port-old"), states: active, joined: both},
		"a port has it, nothing is known": {ips: at("port-old"), states: active},
		"a machine that leaves has it": {ips: at("port-old"), states: active, joined: []string{"new"}, want: "new",
			asked: "associate a port-new"},
		"a machine that joins has it": {ips: at("port-new"), states: active, joined: []string{"old"}, want: "old",
			asked: "associate a port-old"},
		"another one has it":          {ips: at("port-worker"), states: active, joined: both},
		"another cluster's has it":    {ips: at("port-other"), states: active, joined: both},
		"an unknown port has it":      {ips: at("x"), states: active, joined: both},
		"a machine has it, all leave": {ips: at("port-old"), states: active, joined: []string{}},
		"it is gone":                  {states: active, joined: both, err: "no such one any more"},
		"no list": {ips: free, states: active, fails: map[string]error{"list": errors.New("503")},
			err: "list the floating IPs: 503"},
		"no machines known": {ips: free, states: active, fails: map[string]error{"inventory": errors.New("503")},
			err: "list the machines: 503"},
		"refused": {ips: free, states: active, fails: map[string]error{"associate": errors.New("409")},
			err: "give floating IP 203.0.113.1 to server new: 409", asked: "associate a port-new"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &neutron{ips: tc.ips, has: machinesThere(tc.states...), fails: tc.fails}
			got, err := addressesIn(n, "203.0.113.1").move(t.Context(), tc.joined)
			if got != tc.want || (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(),
				tc.err) {
				t.Errorf("%q, %v", got, err)
			}
			i := slices.IndexFunc(n.asked, func(a string) bool { return strings.HasPrefix(a, "associate") })
			if i >= 0 != (tc.asked != "") || i >= 0 && n.asked[i] != tc.asked {
				t.Errorf("asked %v", n.asked)
			}
		})
	}
	n := &neutron{ips: free, has: machinesThere(active...)}
	n.has.Unknown = map[cloud.Kind]error{cloud.KindPort: errors.New("503")}
	if got, err := addressesIn(n, "203.0.113.1").move(t.Context(), nil); err == nil || got != "" {
		t.Errorf("it is not known which ports there are: %q, %v", got, err)
	}
}
