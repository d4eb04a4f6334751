//go:build bench

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	// workloadBound is for one number of clusters.
	workloadBound = 45 * time.Minute
	// first is the name and the namespace of the cluster that the others are copies of.
	first = "bench-000"
)

// inMemory makes a workload cluster of one control-plane machine that CAPD only simulates: its API server and etcd are
// a part of CAPD's process. It has no pod network.
const inMemory = `
cni: none
components:
  cluster:
    spec:
      patches:
        - target: {kind: DevCluster}
          # CAPD 1.14 fails on a DevCluster without annotations.
          patch: '[{"op": "replace", "path": "/spec/backend", "value": {"inMemory": {}}},
            {"op": "add", "path": "/metadata/annotations", "value": {"example.org/backend": "in-memory"}}]'
        - target: {kind: DevMachineTemplate}
          patch: '[{"op": "replace", "path": "/spec/template/spec/backend", "value": {"inMemory": {}}}]'
`

// TestWorkloads makes 1, 10, 50 and 200 workload clusters in one management cluster of one machine. It reports how long
// it takes until all are Available, what the controllers use, and how long `status` and `workload list` take.
// CLUSTER_INIT_BENCH_OUT names a file for the table.
func TestWorkloads(t *testing.T) {
	c := newCLI(t)
	warm(t, c.bundle)
	c.refuseLeftovers(t)
	t.Cleanup(func() { c.cleanup(t) })
	c.up(t)
	management := c.connect(t)
	values := filepath.Join(t.TempDir(), "in-memory.yaml")
	if err := os.WriteFile(values, []byte(inMemory), 0o600); err != nil {
		t.Fatal(err)
	}

	var rows []fleet
	var template []object
	for _, count := range []int{1, 10, 50, 200} {
		before, begun := readUsage(t, management), time.Now()
		if count == 1 {
			c.run(t, "workload", "apply", environmentName, "--in", environmentName, "--name", first, "--namespace", first,
				"--bundle", c.bundle, "--values", values)
			template = readRelease(t, management, first)
		} else {
			made := rows[len(rows)-1].clusters
			copyRelease(t, management, template, made, count)
			awaitAvailable(t, management, count)
		}
		row := fleet{clusters: count, elapsed: time.Since(begun), before: before, after: readUsage(t, management)}
		row.status = c.run(t, "status", environmentName, "--bundle", c.bundle)
		row.list = c.run(t, "workload", "list", "--in", environmentName)
		t.Logf("%d clusters: %s, status %s, list %s", count, row.elapsed, row.status, row.list)
		rows = append(rows, row)
	}
	publish(t, table(rows))
}

// connect connects to the management cluster that `up` has left.
func (c cli) connect(t *testing.T) *kube.Cluster {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.state, "cluster-init", environmentName, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	connected, err := kube.Connect("management", content, clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	return connected
}

// run runs a command that must succeed, and returns how long it took.
func (c cli) run(t *testing.T, args ...string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workloadBound)
	defer cancel()
	begun := time.Now()
	if out, err := c.prepare(exec.CommandContext(ctx, c.binary, args...)).Output(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(begun)
}

// fleet is what was measured with a number of workload clusters. The time and the use are those since the number
// before.
type fleet struct {
	clusters      int
	elapsed       time.Duration
	before, after use
	status, list  time.Duration
}

// table returns one row for each number of clusters.
func table(rows []fleet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Workload clusters in the in-memory backend of CAPD, one management machine, %d CPUs.\n\n",
		runtime.NumCPU())
	b.WriteString("| clusters | seconds until all are Available | API requests | `status` | `workload list` |\n" +
		"|---:|---:|---:|---:|---:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %s | %d | %s s | %s s |\n", r.clusters, seconds(r.elapsed),
			r.after.requests-r.before.requests, seconds(r.status), seconds(r.list))
	}
	b.WriteString("\n| controller |")
	for _, r := range rows {
		fmt.Fprintf(&b, " %d: CPU seconds | MiB |", r.clusters)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|---:|", len(rows)) + "\n")
	var sum = make([]int64, len(rows))
	for _, pod := range rows[len(rows)-1].after.names() {
		fmt.Fprintf(&b, "| %s |", pod)
		for i, r := range rows {
			now, was := r.after.pods[pod], r.before.pods[pod]
			sum[i] += now.memory
			fmt.Fprintf(&b, " %s | %d |", seconds(now.cpu-was.cpu), now.memory>>20)
		}
		b.WriteString("\n")
	}
	b.WriteString("| **sum** |")
	for i := range rows {
		fmt.Fprintf(&b, " | **%d** |", sum[i]>>20)
	}
	return b.String() + "\n"
}
