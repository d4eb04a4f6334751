//go:build openstack

package cleanup

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The bench deletes two clusters of the same make: one with the binary, and a sample of the other with one call of the
// python client for each resource, in the order in which a script would. The sample is spread over the kinds.
const (
	benchMachines = 35
	benchMore     = 40 // volumes of claims, and as many ports; half as many floating IPs
	benchSample   = 4  // of each kind
	benchRatio    = 1.0 / 3
)

func TestBench(t *testing.T) {
	client, err := exec.LookPath("openstack")
	if err != nil {
		t.Fatal("the python client `openstack` is what is measured against: ", err)
	}
	p := newProject(t)
	group := p.defaultGroup(t)
	c := p.newCluster(t, "ours", 1, benchMachines)
	last := ""
	for i := range benchMore {
		c.port(t, fmt.Sprintf("ours-md-1-%05d-0", i), true)
		last = c.volume(t, obj{"name": fmt.Sprint("pvc-", i),
			"metadata": obj{"cinder.csi.openstack.org/cluster": c.resourceName}})
		if i%2 == 0 {
			c.floatingIP(t, "")
		}
	}
	p.awaits(t, p.BlockStorage, "volumes/"+last, "volume", "available")
	ours := p.state(t)
	p.newCluster(t, "theirs", 2, 8)
	theirs := p.state(t).without(ours)
	delete(ours, group)
	if len(ours) < 200 {
		t.Fatalf("%d resources, want 200", len(ours))
	}
	e := run(t, p.command(t, "--cluster", namespace+"/ours", "--yes", "--force", "ours"), never)
	if e.code != 0 || len(e.receipt.Deleted)+len(e.receipt.AlreadyGone) != len(ours) {
		t.Fatalf("exit code %d, %d of %d\n%s", e.code, len(e.receipt.Deleted), len(ours), e.stderr)
	}
	each := p.oneByOne(t, client, theirs)
	calls := each * time.Duration(len(ours))
	ratio := e.took.Seconds() / calls.Seconds()
	t.Logf("%d resources: cluster-init %.1fs; one call each %.1fs (%.2fs a call); ratio %.2f, at most %.2f", len(ours),
		e.took.Seconds(), calls.Seconds(), each.Seconds(), ratio, benchRatio)
	if ratio > benchRatio {
		t.Errorf("ratio %.2f", ratio)
	}
}

// defaultGroup is the security group that each project has.
func (p *project) defaultGroup(t *testing.T) string {
	t.Helper()
	return "security_groups/" + p.call(t, p.Network, "GET", "security-groups?name=default&project_id="+p.ProjectID,
		nil).first("security_groups")
}

// oneByOne deletes some of the resources as a script does, and returns what a call takes.
func (p *project) oneByOne(t *testing.T, client string, resources state) time.Duration {
	t.Helper()
	kinds := [][]string{{"servers", "server"}, {"floatingips", "floating", "ip"}, {"snapshots", "volume", "snapshot"},
		{"volumes", "volume"}, {"ports", "port"}, {"server_groups", "server", "group"}}
	var took time.Duration
	calls := 0
	for _, kind := range kinds {
		left := benchSample
		for _, key := range slices.Sorted(maps.Keys(only(resources, kind[0]))) {
			// What goes with its server or its router is no call of its own.
			if left == 0 || strings.Contains(resources[key], "router_interface") ||
				strings.Contains(resources[key], "-root") {
				continue
			}
			left--
			c := p.command(t)
			c.Path, c.Args = client, append(append([]string{client}, kind[1:]...), "delete",
				strings.SplitN(key, "/", 2)[1])
			start := time.Now()
			out, err := c.CombinedOutput()
			if err != nil && kind[0] != "ports" { // some are in use until their server is gone
				t.Errorf("%v: %v: %s", c.Args, err, out)
			}
			took += time.Since(start)
			calls++
		}
	}
	return took / time.Duration(calls)
}
