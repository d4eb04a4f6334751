package openstack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// Which servers are the cluster's, leftovers.TestServers says.
func TestMachinesAreTheServersInTheOrderInWhichTheyWereMade(t *testing.T) {
	resource := func(kind cloud.Kind, name string, minute int, tags ...string) cloud.Resource {
		return cloud.Resource{Ref: cloud.Ref{Kind: kind, ID: name}, Name: name,
			Created: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC), Tags: tags}
	}
	const tag = "cluster-init:cluster=ns-demo"
	got, err := machines(cloud.Inventory{Resources: []cloud.Resource{
		resource(cloud.KindServer, "demo-worker", 3, "other", tag), resource(cloud.KindServer, "demo-control-plane", 1,
			tag),
		resource(cloud.KindServer, "demo-jump-host", 2), resource(cloud.KindServer, "demo-2-control-plane", 2,
			tag+"-2"), resource(cloud.KindPort, "port", 0, tag),
	}}, leftovers.Cluster{Namespace: "ns", Name: "demo"})
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]provider.Machine{{Name: "demo-control-plane"}, {Name: "demo-worker"}}, got); diff != "" {
		t.Error(diff)
	}
}
