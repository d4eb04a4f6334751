//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// healed are the values with which machines are replaced soon.
const (
	unhealthySeconds = 60
	healSet          = "cluster.health_checks.unhealthy_seconds=60,cluster.drain_seconds=120"
	// silenceOfNodes is how long a node's kubelet may be silent before Kubernetes calls the node not ready.
	silenceOfNodes = 50 * time.Second
	// bootBound is 1.5 times what a boot takes on this machine.
	bootBound = 3 * time.Minute
)

// faults are what happens to machines that are containers.
var faults = []struct {
	name   string
	happen func(t *testing.T, machine string)
	leads  bool // etcd runs on, and may lead on
}{
	{"stopped", func(t *testing.T, m string) { docker(t, "stop", m) }, false},
	{"paused", func(t *testing.T, m string) { docker(t, "pause", m) }, false},
	{"killed", func(t *testing.T, m string) { docker(t, "kill", m) }, false},
	{"deleted", func(t *testing.T, m string) { docker(t, "rm", "--force", "--volumes", m) }, false},
	{"without kubelet", withoutService("kubelet"), true},
	{"without containerd", withoutService("containerd"), true},
}

// withoutService returns what ends a service on a machine, also after a restart.
func withoutService(name string) func(*testing.T, string) {
	return func(t *testing.T, machine string) {
		t.Helper()
		docker(t, "exec", machine, "systemctl", "disable", "--now", name)
	}
}

// TestMatrixHeal has each fault happen to a worker, to the leader of etcd and to another control-plane machine: Cluster
// API replaces the machine in time, or diagnose names it, and etcd keeps its quorum.
func TestMatrixHeal(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3", "--set",
		"cluster.worker.replicas=1", "--set", healSet); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	t.Run("certificates that end soon", func(t *testing.T) { l.renewsCertificates(t, management) })
	for _, role := range []struct {
		name    string
		machine func(lab, *testing.T) string
	}{{"worker", lab.aWorker}, {"leader", lab.etcdLeader}, {"follower", lab.etcdFollower}} {
		for _, fault := range faults {
			management.isWhole(t, 4)
			t.Run(role.name+" "+fault.name, func(t *testing.T) {
				machine, happen := role.machine(l, t), func(machine string) { fault.happen(t, machine) }
				if role.name == "leader" && fault.leads {
					l.namesLeader(t, management, machine, happen, func(machine string) { docker(t, "stop", machine) })
					return
				}
				management.heals(t, machine, happen)
			})
		}
	}
	t.Run("two of three control planes are gone, and nothing is deleted", l.keepsWithoutQuorum)
	cleanup(t, l)
}

// heals fails the test unless Cluster API replaces the machine in time.
func (c cluster) heals(t *testing.T, machine string, fault func(machine string)) {
	t.Helper()
	c.healsAfter(t, machine, unhealthySeconds*time.Second+silenceOfNodes, fault)
}

// healsAfter is heals for a fault that a health check acts on after a time.
func (c cluster) healsAfter(t *testing.T, machine string, least time.Duration, fault func(machine string)) {
	t.Helper()
	begun, bound := time.Now(), least+bootBound
	c.fails(t, machine, fault)(t)
	if took := time.Since(begun).Round(time.Second); took > bound {
		t.Errorf("%s was replaced after %s, want %s", machine, took, bound)
	}
}

// fails has a fault happen to a machine, and returns what waits until Cluster API has replaced it.
func (c cluster) fails(t *testing.T, machine string, fault func(machine string)) (replaced func(t *testing.T)) {
	t.Helper()
	all, err := c.machineObjects(t.Context())
	must(t, err)
	failing := slices.IndexFunc(all, func(m unstructured.Unstructured) bool { return m.GetName() == machine })
	if failing < 0 || !isReady(&all[failing]) {
		t.Fatalf("the machine %s is not among the ready ones: %v", machine, c.readyMachines(t.Context()))
	}
	cluster := clusterOf(&all[failing])
	count := len(readyOf(all, cluster))
	begun := time.Now()
	fault(machine)
	return func(t *testing.T) {
		t.Helper()
		eventually(t, machine+" is replaced", 10*time.Minute, c.replaced(cluster, machine, count))
		t.Logf("%s was replaced after %s", machine, time.Since(begun).Round(time.Second))
	}
}

// isWhole waits until a cluster without workload clusters has so many machines, and all are ready: the next fault in a
// cluster that still heals could take etcd's quorum.
func (c cluster) isWhole(t *testing.T, count int) {
	t.Helper()
	eventually(t, "all machines are ready", 15*time.Minute, func(ctx context.Context) bool {
		all, err := c.machineObjects(ctx)
		return err == nil && len(all) == count && len(readyOf(all, c.name)) == count
	})
}

// replaced returns what reports whether a machine is gone, and so many of its cluster are ready.
func (c cluster) replaced(cluster, machine string, count int) func(context.Context) bool {
	return func(ctx context.Context) bool {
		all, err := c.machineObjects(ctx)
		return err == nil && len(readyOf(all, cluster)) >= count &&
			!slices.ContainsFunc(all, func(m unstructured.Unstructured) bool { return m.GetName() == machine })
	}
}

// readyMachines are the names of the management cluster's own Machines that are Ready and are not being deleted; nil
// while the API server does not answer.
func (c cluster) readyMachines(ctx context.Context) []string {
	all, err := c.machineObjects(ctx)
	if err != nil {
		return nil
	}
	return readyOf(all, c.name)
}

// machineObjects are the Machines of the management cluster and of its workload clusters.
func (c cluster) machineObjects(ctx context.Context) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	list.SetKind("MachineList")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := c.List(ctx, list)
	return list.Items, err
}

// readyOf are the names of the Machines of a cluster that are Ready and are not being deleted.
func readyOf(all []unstructured.Unstructured, cluster string) (ready []string) {
	for _, m := range all {
		if clusterOf(&m) == cluster && isReady(&m) {
			ready = append(ready, m.GetName())
		}
	}
	return ready
}

func isReady(machine *unstructured.Unstructured) bool {
	return machine.GetDeletionTimestamp() == nil && health.ConditionOf(machine, "Ready").Status == "True"
}

func clusterOf(machine *unstructured.Unstructured) string {
	return machine.GetLabels()["cluster.x-k8s.io/cluster-name"]
}

// aWorker returns a worker of the management cluster that runs.
func (l lab) aWorker(t *testing.T) string {
	t.Helper()
	return workerOf(t, l.name)
}

// workerOf returns a worker of a cluster that runs.
func workerOf(t *testing.T, cluster string) string {
	t.Helper()
	all := running(t, cluster, "worker")
	if len(all) == 0 {
		t.Fatal("no worker runs")
	}
	return all[0]
}

// running are the names of the containers of a cluster that run, and have the role.
func running(t *testing.T, cluster, role string) []string {
	t.Helper()
	return strings.Fields(docker(t, "ps", "--format", "{{.Names}}", "--filter", "status=running", "--filter",
		"label=io.x-k8s.kind.cluster="+cluster, "--filter", "label=io.x-k8s.kind.role="+role))
}

// etcdLeader returns the control-plane machine whose etcd leads.
func (l lab) etcdLeader(t *testing.T) string {
	t.Helper()
	for _, machine := range running(t, l.name, "control-plane") {
		if leads(t, machine) {
			return machine
		}
	}
	t.Fatal("no member of etcd leads")
	return ""
}

// etcdFollower returns a control-plane machine whose etcd does not lead.
func (l lab) etcdFollower(t *testing.T) string {
	t.Helper()
	leader := l.etcdLeader(t)
	for _, machine := range running(t, l.name, "control-plane") {
		if machine != leader {
			return machine
		}
	}
	t.Fatal("etcd has only one member")
	return ""
}

func leads(t *testing.T, machine string) bool {
	t.Helper()
	status := docker(t, "exec", machine, "sh", "-c", `crictl exec $(crictl ps --quiet --name '^etcd$') etcdctl \
--endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt \
--key=/etc/kubernetes/pki/etcd/server.key endpoint status --write-out=fields`)
	fields := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " : ")
		fields[strings.Trim(name, `"`)] = value
	}
	if fields["MemberID"] == "" || fields["Leader"] == "" {
		t.Fatalf("etcd on %s says %s", machine, status)
	}
	return fields["MemberID"] == fields["Leader"]
}

// keepsWithoutQuorum stops two of three control-plane machines for longer than a health check waits: no machine is
// deleted, and with them the cluster comes back.
func (l lab) keepsWithoutQuorum(t *testing.T) {
	all := running(t, l.name, "control-plane")
	if len(all) != 3 {
		t.Fatalf("the control-plane machines %v run", all)
	}
	docker(t, append([]string{"stop"}, all[1:]...)...)
	if code, _ := l.run(t, "status", l.name); code == 0 {
		t.Error("status ended with 0 without a quorum")
	}
	if code, took, out := l.diagnosed(t); code == 0 || took > nameBound || !strings.Contains(out, all[1]) ||
		!strings.Contains(out, all[2]) {
		t.Errorf("diagnose ended with %d after %s, and named not both of %v:\n%s", code, took, all[1:], out)
	}
	waitFor(t, unhealthySeconds*time.Second+silenceOfNodes+time.Minute)
	if code, _ := l.run(t, "start", l.name); code != 0 {
		t.Errorf("start ended with %d", code)
	}
	management := l.management(t)
	eventually(t, "the cluster is back", 10*time.Minute, func(ctx context.Context) bool {
		return len(management.readyMachines(ctx)) == 4
	})
	now := running(t, l.name, "control-plane")
	if slices.Sort(now); fmt.Sprint(now) != fmt.Sprint(slices.Sorted(slices.Values(all))) {
		t.Errorf("the control-plane machines are %v, were %v", now, all)
	}
}

// waitFor waits until health checks would have acted.
func waitFor(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
