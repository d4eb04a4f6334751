//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// TestMatrixOctavia has three control planes behind a load balancer of Octavia: when the server of one is deleted, the
// API server answers on, and Cluster API replaces the machine, which becomes a member in place of the other. cleanup
// leaves no load balancer.
func TestMatrixOctavia(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	up := append([]string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3",
		"--set", healSet, "--set", "cluster.openstack.api_server.mode=octavia"}, from...)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management, balancer := l.management(t), project.balancer(t)
	management.managesItself(t)
	address := project.addressOf(t, balancer)
	if !strings.Contains(management.Config.Host, address) {
		t.Errorf("the endpoint is %s, want %s", management.Config.Host, address)
	}
	if servers := project.names(t, openstack.KindServer); len(servers) != 3 {
		t.Fatalf("the project has the servers %v, want three", servers)
	}
	if members := project.membersOf(t, balancer); len(members) != 3 {
		t.Errorf("the load balancer has the members %v, want three", members)
	}
	t.Run("up again makes no other load balancer", func(t *testing.T) {
		if code, _ := l.run(t, up...); code != 0 {
			t.Errorf("up ended with %d", code)
		}
		if now := project.balancer(t); now.ID != balancer.ID {
			t.Errorf("the load balancer is %s, was %s", now.ID, balancer.ID)
		}
	})
	t.Run("another machine becomes a member", func(t *testing.T) {
		ready := management.readyMachines(t.Context())
		gone := project.names(t, openstack.KindServer)[0]
		outage := watchAddress(t, address)
		if _, err := project.Delete(t.Context(), project.server(t, gone)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "machine "+gone+" is replaced", 20*time.Minute, func(ctx context.Context) bool {
			now := management.readyMachines(ctx)
			return len(now) == len(ready) && !slices.Contains(now, gone)
		})
		longest := outage()
		t.Logf("without server %s the API server was silent for %s at most", gone, longest)
		if longest > longestOutage {
			t.Errorf("the API server was silent for %s, want %s at most", longest, longestOutage)
		}
		ofGone := func(member string) bool { return strings.HasSuffix(member, "-"+gone) }
		if now := project.membersOf(t, balancer); len(now) != 3 || slices.ContainsFunc(now, ofGone) {
			t.Errorf("without server %s the load balancer has the members %v, want three others", gone, now)
		}
		l.management(t).managesItself(t)
		if now := project.addressOf(t, project.balancer(t)); now != address {
			t.Errorf("the address is %s, was %s", now, address)
		}
	})
	t.Run("cleanup plans to delete the load balancer", func(t *testing.T) {
		if code, shown := l.run(t, "cleanup", l.name, "--force", l.name); code != 71 ||
			!strings.Contains(shown, balancer.Name) {
			t.Errorf("cleanup without --yes: exit code %d, plan:\n%s", code, shown)
		}
	})
	l.cleanupOpenStack(t, project, before)
}

// balancer returns the project's only load balancer, which is ACTIVE and carries the name that CAPO gives.
func (p project) balancer(t *testing.T) loadbalancers.LoadBalancer {
	t.Helper()
	own := loadbalancers.ListOpts{ProjectID: p.ProjectID}
	pages, err := loadbalancers.List(p.LoadBalancer, own).AllPages(t.Context())
	must(t, err)
	all, err := loadbalancers.ExtractLoadBalancers(pages)
	must(t, err)
	if len(all) != 1 || all[0].ProvisioningStatus != "ACTIVE" ||
		all[0].Name != "k8s-clusterapi-cluster-management-"+openStackName+"-kubeapi" {
		t.Fatalf("the project has the load balancers %+v, want CAPO's", all)
	}
	return all[0]
}

// addressOf returns the project's only floating IP, which is at the load balancer's port.
func (p project) addressOf(t *testing.T, balancer loadbalancers.LoadBalancer) string {
	t.Helper()
	all, err := p.FloatingIPs(t.Context())
	must(t, err)
	if len(all) != 1 || all[0].Port != balancer.VipPortID {
		t.Fatalf("the project has the floating IPs %+v, want one at port %s", all, balancer.VipPortID)
	}
	return all[0].Name
}

// membersOf returns the names of the members of a load balancer's only pool. CAPO's end with the name of the server.
func (p project) membersOf(t *testing.T, balancer loadbalancers.LoadBalancer) []string {
	t.Helper()
	if len(balancer.Pools) != 1 {
		t.Fatalf("load balancer %s has %d pools, want one", balancer.Name, len(balancer.Pools))
	}
	pages, err := pools.ListMembers(p.LoadBalancer, balancer.Pools[0].ID, nil).AllPages(t.Context())
	must(t, err)
	all, err := pools.ExtractMembers(pages)
	must(t, err)
	var names []string
	for _, member := range all {
		names = append(names, member.Name)
	}
	return names
}
