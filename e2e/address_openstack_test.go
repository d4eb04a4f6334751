//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixAddress replaces the only control-plane machine of a cluster whose floating IP cluster-init has made: the
// address moves to the new machine, so that the cluster has the same endpoint. cleanup deletes it.
func TestMatrixAddress(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	up := append([]string{"up", l.name, "--bundle", l.bundle}, from...)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management, address := l.management(t), project.address(t)
	management.managesItself(t)
	management.hasAddress(t, address)
	endpoint, servers := management.Config.Host, project.names(t, openstack.KindServer)

	t.Run("up again makes no other address", func(t *testing.T) {
		if code, _ := l.run(t, up...); code != 0 {
			t.Errorf("up ended with %d", code)
		}
		if now := project.address(t); now.ID != address.ID {
			t.Errorf("the address is %s, was %s", now.Name, address.Name)
		}
	})
	t.Run("another machine gets the same address", func(t *testing.T) {
		change := append(slices.Clone(up), "--set", "cluster.kubernetes.api_server.extra_args.event-ttl=2h0m0s")
		if code, _ := l.run(t, change...); code != 0 {
			t.Fatalf("up with another argument ended with %d", code)
		}
		now := project.names(t, openstack.KindServer)
		if len(now) != 1 || now[0] == servers[0] {
			t.Errorf("the project has the servers %v, had %v", now, servers)
		}
		if moved := project.address(t); moved.ID != address.ID || moved.Port == "" || moved.Port == address.Port {
			t.Errorf("address %s is at port %s; it was %s at port %s", moved.Name, moved.Port, address.Name,
				address.Port)
		}
		replaced := l.management(t)
		if replaced.Config.Host != endpoint {
			t.Errorf("the endpoint is %s, was %s", replaced.Config.Host, endpoint)
		}
		replaced.managesItself(t)
		replaced.hasAddress(t, address)
	})
	l.cleanupOpenStack(t, project, before)
}

// address returns the project's only floating IP, which carries both marks of the cluster.
func (p project) address(t *testing.T) inventory.FloatingIP {
	t.Helper()
	all, err := p.FloatingIPs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := owned.CloudName("management", openStackName)
	if len(all) != 1 || all[0].Description != owned.AddressDescription(name) || len(all[0].Tags) != 1 ||
		all[0].Tags[0] != owned.Tag(name) {
		t.Fatalf("the project has the floating IPs %+v, want one with the marks of %s", all, name)
	}
	return all[0]
}

// addressHolder returns the name of the server that the floating IP leads to.
func (p project) addressHolder(t *testing.T) string {
	t.Helper()
	port, err := p.Port(t.Context(), p.address(t).Port)
	must(t, err)
	for _, name := range p.names(t, openstack.KindServer) {
		if p.server(t, name).Ref == port.PartOf {
			return name
		}
	}
	t.Fatalf("no server has the port %s of the floating IP", port.ID)
	return ""
}

// hasAddress fails the test unless the cluster's OpenStackCluster names the address, and its endpoint is at it.
func (c cluster) hasAddress(t *testing.T, address inventory.FloatingIP) {
	t.Helper()
	for _, o := range c.list(t, "infrastructure.cluster.x-k8s.io", "v1beta1", "OpenStackCluster") {
		given, _, _ := unstructured.NestedString(o.Object, "spec", "apiServerFloatingIP")
		host, _, _ := unstructured.NestedString(o.Object, "spec", "controlPlaneEndpoint", "host")
		if given != address.Name || host != address.Name {
			t.Errorf("%s has the address %q and the endpoint %q, want %s", o.GetName(), given, host, address.Name)
		}
	}
}
