//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

const (
	// infrastructureSeconds is the least that a health check gives a server that is not ready, but whose node is.
	infrastructureSeconds = 300
	// silenceOfProvider is how long the provider does not look at a server: its period of a minute, and a tenth.
	silenceOfProvider = 66 * time.Second
)

// serverFaults are what happens to servers of OpenStack, whose machines are containers of the lab.
var serverFaults = []struct {
	name   string
	happen func(p project, t *testing.T, server string)
	slow   bool // its node stays ready, so that only the state of its server counts
	leads  bool // its etcd runs on, and may lead on
}{
	{name: "SHUTOFF", happen: project.shutOff},
	{name: "ERROR", happen: project.fail, slow: true},
	{name: "deleted", happen: func(p project, t *testing.T, server string) {
		if _, err := p.Delete(t.Context(), p.server(t, server)); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "hanging", happen: func(p project, t *testing.T, server string) { docker(t, "pause", p.container(t, server)) }},
	{name: "without kubelet", leads: true, happen: func(p project, t *testing.T, server string) {
		withoutService("kubelet")(t, p.container(t, server))
	}},
	{name: "without containerd", leads: true, happen: func(p project, t *testing.T, server string) {
		withoutService("containerd")(t, p.container(t, server))
	}},
}

// TestMatrixHealOpenStack has each fault happen to a worker, to the control-plane server with the virtual address and
// to another one: Cluster API replaces the server in time, or diagnose names it. The API server is silent for 30 s at
// most.
func TestMatrixHealOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	network := &site{network: project.Network}
	network.connect(t)
	l, _, from := l.fromRepository(t)
	up := append(withVirtualAddress(l, "--set", "cluster.worker.replicas=1", "--set",
		"cluster.health_checks.node_startup_seconds=300"), from...)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	for _, role := range []struct {
		name   string
		server func(t *testing.T) string
	}{
		{"worker", func(t *testing.T) string { return project.workerOf(t, l.name) }},
		{"holder", func(t *testing.T) string { return project.holder(t).Name }},
		{"other", func(t *testing.T) string { return project.withoutAddress(t, l.name) }},
	} {
		for _, fault := range serverFaults {
			management.isWhole(t, 4)
			t.Run(role.name+" "+fault.name, func(t *testing.T) {
				outage, server := watchAddress(t, virtualAddress), role.server(t)
				happen := func(server string) { fault.happen(project, t, server) }
				least := unhealthySeconds*time.Second + silenceOfNodes
				if fault.slow {
					least = infrastructureSeconds*time.Second + silenceOfProvider
				}
				if fault.leads && role.name != "worker" && leads(t, project.container(t, server)) {
					l.namesLeader(t, management, server, happen, func(server string) { project.shutOff(t, server) })
				} else {
					management.healsAfter(t, server, least, happen)
				}
				longest := outage()
				t.Logf("the API server was silent for %s at most", longest)
				if longest > longestOutage {
					t.Errorf("the API server was silent for %s, want %s at most", longest, longestOutage)
				}
			})
		}
	}
	if code, _ := l.run(t, "cleanup", l.name, "--force", l.name, "--yes"); code != 0 {
		t.Errorf("cleanup ended with %d", code)
	}
}

// withoutAddress returns a control-plane server of a cluster that has not the virtual address.
func (p project) withoutAddress(t *testing.T, cluster string) string {
	t.Helper()
	holder := p.holder(t).Name
	for _, name := range p.servers(t, cluster) {
		if strings.HasPrefix(name, cluster+"-control-plane-") && name != holder {
			return name
		}
	}
	t.Fatalf("no control-plane server of %s but the one with the address", cluster)
	return ""
}

// server returns the server of that name.
func (p project) server(t *testing.T, name string) openstack.Resource {
	t.Helper()
	has, err := p.Inventory(t.Context())
	must(t, err)
	for _, r := range has.Resources {
		if r.Kind == openstack.KindServer && r.Name == name {
			return r
		}
	}
	t.Fatalf("the project has no server %s", name)
	return openstack.Resource{}
}

// container returns the container that the lab runs in place of a server.
func (p project) container(t *testing.T, server string) string {
	t.Helper()
	all := containers(t, serverLabel+"="+p.server(t, server).ID)
	if len(all) != 1 {
		t.Fatalf("server %s has the containers %v", server, all)
	}
	return all[0]
}

// shutOff stops a server, which is then SHUTOFF.
func (p project) shutOff(t *testing.T, server string) {
	t.Helper()
	must(t, servers.Stop(t.Context(), p.Client.Compute, p.server(t, server).ID).ExtractErr())
}

// fail has an administrator of the cloud set a server to ERROR. Its machine runs on.
func (p project) fail(t *testing.T, server string) {
	t.Helper()
	id := p.server(t, server).ID
	auth, endpoint, tls, err := clouds.Parse(clouds.WithCloudName("admin"), clouds.WithLocations(openStack(t).Clouds()))
	must(t, err)
	provider, err := config.NewProviderClient(t.Context(), auth, config.WithTLSConfig(tls))
	must(t, err)
	compute, err := sdk.NewComputeV2(provider, endpoint)
	must(t, err)
	must(t, servers.ResetState(t.Context(), compute, id, servers.StateError).ExtractErr())
}

// isHolder reports whether the machine of a server has the virtual address now.
func isHolder(ctx context.Context, machine string) bool {
	// it fails for a machine that is just being removed, and does not end for one that hangs
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "docker", "exec", machine, "ip", "-4", "address", "show").Output()
	return strings.Contains(string(out), " "+virtualAddress+"/32 ")
}
