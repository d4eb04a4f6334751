//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	// virtualAddress is one of siteSubnet.
	virtualAddress = "10.91.0.200"
	// longestOutage is how long the API server may be silent when the machine with the address goes.
	longestOutage = 30 * time.Second
)

// TestMatrixVIP has three control planes in a network of the user's share an address, which keepalived holds: when the
// server that has it is deleted, another machine answers, and Cluster API replaces the machine. cleanup deletes the
// port that reserves the address, and leaves the network.
func TestMatrixVIP(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	network := &site{network: project.Network}
	network.connect(t)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	up := append(withVirtualAddress(l), from...)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management, reserved := l.management(t), project.reservation(t, network.networkID)
	management.managesItself(t)
	if !strings.Contains(management.Config.Host, virtualAddress) {
		t.Errorf("the endpoint is %s, want %s", management.Config.Host, virtualAddress)
	}
	if servers := project.names(t, openstack.KindServer); len(servers) != 3 {
		t.Fatalf("the project has the servers %v, want three", servers)
	}
	t.Run("up again reserves no other address", func(t *testing.T) {
		if code, _ := l.run(t, up...); code != 0 {
			t.Errorf("up ended with %d", code)
		}
		if now := project.reservation(t, network.networkID); now.ID != reserved.ID {
			t.Errorf("the address has port %s, had %s", now.ID, reserved.ID)
		}
	})
	t.Run("another machine answers when the one with the address is gone", func(t *testing.T) {
		ready := management.readyMachines(t.Context())
		holder := project.holder(t)
		outage := watchAddress(t, virtualAddress)
		if _, err := project.Delete(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another machine has the address", 5*time.Minute, func(ctx context.Context) bool {
			return project.holder(t).ID != holder.ID && management.Reachable(ctx) == nil
		})
		longest := outage()
		t.Logf("without server %s the API server was silent for %s at most", holder.Name, longest)
		if longest > longestOutage {
			t.Errorf("the API server was silent for %s, want %s at most", longest, longestOutage)
		}
		eventually(t, "machine "+holder.Name+" is replaced", 20*time.Minute, func(ctx context.Context) bool {
			now := management.readyMachines(ctx)
			return len(now) == len(ready) && !slices.Contains(now, holder.Name)
		})
		l.management(t).managesItself(t)
		if now := project.reservation(t, network.networkID); now.ID != reserved.ID {
			t.Errorf("the address has port %s, had %s", now.ID, reserved.ID)
		}
	})
	t.Run("cleanup deletes the port and leaves the network", func(t *testing.T) {
		if code, shown := l.run(t, "cleanup", l.name, "--force", l.name); code != 71 ||
			!strings.Contains(shown, reserved.Name) {
			t.Fatalf("cleanup without --yes: exit code %d, plan:\n%s", code, shown)
		}
		if code, _ := l.run(t, "cleanup", l.name, "--force", l.name, "--yes"); code != 0 {
			t.Errorf("cleanup --yes ended with %d", code)
		}
		l.nothingLeft(t)
		if after := project.inventory(t); !maps.Equal(after, before) {
			t.Errorf("the project has %v, had %v", after, before)
		}
	})
}

// withVirtualAddress returns the arguments of `up` for three control planes in a network of the user's.
func withVirtualAddress(l lab, more ...string) []string {
	const api = "cluster.openstack.api_server."
	return append([]string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3",
		"--set", healSet, "--set", "cluster.openstack.network=" + siteName, "--set", api + "mode=vip",
		"--set", api + "fixed_ip=" + virtualAddress, "--set", api + "keepalived_image=" + plan.KeepalivedImage}, more...)
}

// reservation returns the only port with the virtual address, which carries both marks of the cluster, and which
// nothing has.
func (p project) reservation(t *testing.T, network string) inventory.Port {
	t.Helper()
	all, err := p.PortsAt(t.Context(), network, virtualAddress)
	if err != nil {
		t.Fatal(err)
	}
	name := owned.CloudName("management", openStackName)
	if len(all) != 1 || all[0].Description != owned.AddressDescription(name) || all[0].Device != "" ||
		!slices.Equal(all[0].Tags, []string{owned.Tag(name)}) {
		t.Fatalf("the address has the ports %+v, want one with the marks of %s", all, name)
	}
	return all[0]
}

// holder returns the server whose machine has the virtual address now; zero if none has it.
func (p project) holder(t *testing.T) openstack.Resource {
	t.Helper()
	found, err := p.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found.Resources {
		if r.Kind != openstack.KindServer {
			continue
		}
		for _, machine := range containers(t, serverLabel+"="+r.ID) {
			if isHolder(t.Context(), machine) {
				return r
			}
		}
	}
	return openstack.Resource{}
}

// watchAddress asks the API server at an address again and again. stop ends that, and returns the longest time between
// two answers.
func watchAddress(t *testing.T, address string) (stop func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // only the time of an answer counts
	var longest time.Duration
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-ctx.Done():
				longest = max(longest, time.Since(last))
				return
			case <-tick.C:
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+":6443/readyz", nil)
			if err != nil {
				continue
			}
			answer, err := client.Do(request)
			if err != nil {
				continue
			}
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				longest, last = max(longest, time.Since(last)), time.Now()
			}
		}
	})
	stop = func() time.Duration {
		cancel()
		done.Wait()
		return longest
	}
	t.Cleanup(func() { stop() })
	return stop
}
