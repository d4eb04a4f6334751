//go:build e2e

package e2e

import (
	"maps"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// workloadOnOpenStack makes a workload cluster of one server with a floating IP, sees its node ready, and deletes it.
// The project is then as it was before. The management cluster may be elsewhere.
func (l lab) workloadOnOpenStack(t *testing.T, project project) {
	t.Helper()
	before := project.inventory(t)
	l.makesWorkloadOnOpenStack(t, project, 1)
	l.deletesWorkloadOnOpenStack(t)
	if after := project.inventory(t); !maps.Equal(before, after) {
		t.Errorf("the project had %v before, and has %v", before, after)
	}
}

// makesWorkloadOnOpenStack makes a workload cluster of so many servers, one of them a control plane.
func (l lab) makesWorkloadOnOpenStack(t *testing.T, project project, count int, flags ...string) {
	t.Helper()
	if code, _ := l.run(t, append([]string{"workload", "apply", openStackName, "--in", l.name, "--name", workloadName,
		"--namespace", workloadName, "--bundle", l.bundle, "--set", "cluster.openstack.node_cidr=10.7.0.0/24",
		"--timeout", "12m"}, flags...)...); code != 0 {
		l.tellsWhy(t, project)
		t.Fatalf("workload apply ended with %d", code)
	}
	if now := project.servers(t, workloadName); len(now) != count {
		t.Errorf("the workload cluster has the servers %v, want %d", now, count)
	}
	l.hasReadyNodes(t, workloadName+"/"+workloadName, count)
}

func (l lab) deletesWorkloadOnOpenStack(t *testing.T) {
	t.Helper()
	if code, _ := l.run(t, "workload", "delete", workloadName+"/"+workloadName, "--in", l.name, "--yes"); code != 0 {
		t.Fatalf("workload delete ended with %d", code)
	}
}

// servers are the names of a cluster's servers.
func (p project) servers(t *testing.T, cluster string) (names []string) {
	t.Helper()
	for _, name := range p.names(t, openstack.KindServer) {
		if strings.HasPrefix(name, cluster+"-") {
			names = append(names, name)
		}
	}
	return names
}

// workerOf returns the only worker of a cluster.
func (p project) workerOf(t *testing.T, cluster string) string {
	t.Helper()
	for _, name := range p.servers(t, cluster) {
		if strings.HasPrefix(name, cluster+"-workers-") {
			return name
		}
	}
	t.Fatalf("the cluster %s has no worker", cluster)
	return ""
}
