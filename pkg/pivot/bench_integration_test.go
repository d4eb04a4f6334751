//go:build integration && bench

package pivot_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// TestBenchPivot moves 1, 10 and 100 clusters between two real API servers, once as `up` does it, with its checks, its
// backup and its verification, and once with the binary of clusterctl that CLUSTER_INIT_CLUSTERCTL names, which does
// none of them.
func TestBenchPivot(t *testing.T) {
	clusterctl := os.Getenv("CLUSTER_INIT_CLUSTERCTL")
	if clusterctl == "" {
		t.Fatal("CLUSTER_INIT_CLUSTERCTL names no binary: see make bench-pivot")
	}
	j := newJob(t)
	for _, count := range []int{1, 10, 100} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			ours, theirs := j.holding(t, count, "ours"), j.holding(t, count, "theirs")
			ofClusterctl := measured(t, exec.CommandContext(t.Context(), clusterctl, "move", "--kubeconfig",
				theirs.Source, "--to-kubeconfig", theirs.Target, "-n", theirs.Namespace))
			ofOurs := measured(t, ours.command(t))
			t.Logf(
				"%d clusters, %d objects\n%-14s %10s %10s %10s\n%s\n%s\nratio: time %.2f, requests %.2f, memory %.2f",
				count, count*len(fixture.ManagementCluster()),
				"", "time", "requests", "peak RSS", ofOurs.row("cluster-init"), ofClusterctl.row("clusterctl"),
				ofOurs.took.Seconds()/ofClusterctl.took.Seconds(), float64(ofOurs.requests)/float64(
					ofClusterctl.requests), float64(ofOurs.memory)/float64(ofClusterctl.memory))
			for _, moved := range []job{ours, theirs} {
				moved.arrived(t, count)
			}
		})
	}
}

// holding gives a job a namespace of its own with that many clusters in it.
func (j job) holding(t *testing.T, count int, whose string) job {
	t.Helper()
	j.Namespace, j.Dir = fmt.Sprintf("%s-%d", whose, count), t.TempDir()
	for i := range count {
		name := fixture.Cluster
		if i > 0 {
			name = fmt.Sprintf("tenant-%d", i)
		}
		if err := fixture.Create(t.Context(), servers.source.Client, j.Namespace, fixture.Named(name)); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// arrived fails the test unless the target has all clusters, active, and the source none.
func (j job) arrived(t *testing.T, want int) {
	t.Helper()
	scope := clusters.Scope{Namespace: j.Namespace, Cluster: fixture.Cluster}
	state, err := pivot.ReadState(t.Context(), clusters.Side{Client: servers.source.Client},
		clusters.Side{Client: servers.target.Client}, scope)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Target.Clusters) != want || !state.Source.Empty() || state.Phase != pivot.Done {
		t.Errorf("%s: %d Clusters have arrived, %d objects are left at the source, the pivot is %s", j.Namespace,
			len(state.Target.Clusters), len(state.Source.Objects), state.Phase)
	}
}

// usage is what a process took.
type usage struct {
	took     time.Duration
	requests float64 // to both API servers, by their own count
	memory   int64   // its peak, bytes
}

func (u usage) row(who string) string {
	return fmt.Sprintf("%-14s %9.1fs %10.0f %6d MiB", who, u.took.Seconds(), u.requests, u.memory>>20)
}

func measured(t *testing.T, cmd *exec.Cmd) usage {
	t.Helper()
	before := requests(t)
	began := time.Now()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	// The compiler's setting of the Makefile would let the heap of both grow to five times of what lives.
	cmd.Env = slices.DeleteFunc(cmd.Environ(),
		func(variable string) bool { return strings.HasPrefix(variable, "GOGC=") })
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	u := usage{}
	u.memory = peak(cmd.Process.Pid, ended)
	u.took = time.Since(began)
	if !cmd.ProcessState.Success() {
		t.Fatalf("%s: %s\n%s", filepath.Base(cmd.Path), cmd.ProcessState, &output)
	}
	u.requests = requests(t) - before
	return u
}

// peak returns the peak of a process's memory once it has ended. The kernel keeps it, so that few reads are enough. The
// value after the end includes the moment when the process was still a copy of this one.
func peak(pid int, ended <-chan error) (bytes int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return bytes
		case <-tick.C:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it has just ended
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
				kib, err := strconv.ParseInt(fields[1], 10, 64)
				if err == nil {
					bytes = max(bytes, kib<<10)
				}
			}
		}
	}
}

// requests is how many requests both API servers have answered. Their own, which they send to themselves all the time,
// are among them: some ten a second.
func requests(t *testing.T) float64 {
	t.Helper()
	var total float64
	for _, config := range []*rest.Config{servers.source.Config, servers.target.Config} {
		total += answered(t, config)
	}
	return total
}

// answered reads the counter of an API server.
func answered(t *testing.T, config *rest.Config) float64 {
	t.Helper()
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Get(strings.TrimSuffix(config.Host, "/") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the metrics of %s: %s", config.Host, response.Status)
	}
	var total float64
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		counter, value, _ := strings.Cut(lines.Text(), "} ")
		if !strings.HasPrefix(counter, "apiserver_request_total{") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	if err := lines.Err(); err != nil || total == 0 {
		t.Fatalf("the metrics of %s count no requests: %v", config.Host, err)
	}
	return total
}
