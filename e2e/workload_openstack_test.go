//go:build e2e

package e2e

import (
	"maps"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// workloadOnOpenStack makes a workload cluster of one server with a floating IP, sees its node ready, and deletes it.
// The project is then as it was before. The management cluster may be elsewhere.
func (l lab) workloadOnOpenStack(t *testing.T, project project) {
	t.Helper()
	before, servers := project.inventory(t), len(project.names(t, openstack.KindServer))
	own := workloadName + "/" + workloadName
	if code, _ := l.run(t, "workload", "apply", openStackName, "--in", l.name, "--name", workloadName, "--namespace",
		workloadName,
		"--bundle", l.bundle, "--set", "cluster.openstack.node_cidr=10.7.0.0/24"); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	if now := project.names(t, openstack.KindServer); len(now) != servers+1 {
		t.Errorf("the project has the servers %v", now)
	}
	l.hasReadyNode(t, own)
	if code, _ := l.run(t, "workload", "delete", own, "--in", l.name, "--yes"); code != 0 {
		t.Fatalf("workload delete ended with %d", code)
	}
	if after := project.inventory(t); !maps.Equal(before, after) {
		t.Errorf("the project had %v before, and has %v", before, after)
	}
}
