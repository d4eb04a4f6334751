//go:build e2e

package e2e

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixReboot reboots the machine at the beginning of each phase: the run is killed, and none of the containers
// runs any more. Each time the next run continues with the same clusters. No machine is ever made a second time.
func TestMatrixReboot(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	made := first{}
	for _, phase := range []string{"bootstrap-cluster", "bootstrap-flux", "management-cluster", "management-flux",
		"management-release",
		"management-available", "pivot", "definition", "self-management", "bootstrap-removal"} {
		killed, code := l.killAt(t, func(e event.Event) bool {
			return e.Type == event.PhaseStarted &&
				e.Phase == phase
		}, up...)
		if !killed {
			t.Fatalf("up ended with %d before phase %s began", code, phase)
		}
		t.Logf("reboot at %s", phase)
		rebooted(t, l.name)
		made.unchanged(t, l.name)
	}
	if len(made.containers) == 0 {
		t.Fatal("no machine was there at any of the reboots")
	}
	l.comesUp(t, up...)
	management := l.management(t)
	l.built(t, management)
	management.bootstrapped(t)
	made.isAuthorityOf(t, l.kubeconfig(l.name))
	made.unchanged(t, l.name)
	if t.Failed() {
		return
	}

	t.Run("a dry run finds nothing to do but to look", func(t *testing.T) {
		code, out := l.run(t, "up", l.name, "--bundle", l.bundle, "--dry-run")
		if code != 0 || !strings.Contains(out, "- pivot: nothing to do") ||
			!strings.Contains(out, "- delete the bootstrap cluster: nothing to do, it is gone") {
			t.Errorf("up --dry-run ended with %d: %s", code, out)
		}
	})
	t.Run("after the bootstrap cluster is deleted", func(t *testing.T) {
		rebooted(t, l.name)
		l.comesUp(t, up...)
		l.management(t).managesItself(t)
		made.unchanged(t, l.name)
		if left := containers(t, kind.ClusterLabel+"="+owned.BootstrapCluster(l.name)); len(left) > 0 {
			t.Errorf("a bootstrap cluster was made again: %v", left)
		}
	})
	// Another container gets a low address that no machine of the cluster needs, and one machine is started first.
	t.Run("in another order of starts", func(t *testing.T) {
		before := addressesOf(t, l.name)
		rebooted(t, l.name)
		image := docker(t, "inspect", "--format", "{{.Image}}", machines(t)[0])
		var others []string
		t.Cleanup(func() {
			for _, id := range others {
				docker(t, "rm", "--force", id)
			}
		})
		for range before { // those that have an address of the cluster make room again
			others = append(others, docker(t, "run", "--detach", "--rm", "--network", "kind", "--entrypoint", "sleep",
				image, "3600"))
		}
		kept := slices.DeleteFunc(slices.Clone(others), func(id string) bool {
			return slices.Contains(slices.Collect(maps.Values(before)), addressOf(t, id))
		})
		for _, id := range others {
			if !slices.Contains(kept, id) {
				docker(t, "rm", "--force", id)
			}
		}
		others = kept
		t.Logf("%d other containers have low addresses", len(kept))
		l.comesUp(t, "start", l.name)
		l.sameAddresses(t, before)
		l.management(t).managesItself(t)
		made.unchanged(t, l.name)
	})
	// The engine itself starts containers with a restart policy, in any order.
	t.Run("after the engine has started the machines elsewhere", func(t *testing.T) {
		before := addressesOf(t, l.name)
		rebooted(t, l.name)
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(before))) {
			_ = exec.Command("docker", "start", name).Run() // a machine ends at once that was made before this version
		}
		l.comesUp(t, "start", l.name)
		l.sameAddresses(t, before)
		l.management(t).managesItself(t)
		l.comesUp(t, "start", l.name)
		made.unchanged(t, l.name)
	})
}

// comesUp runs a command after a reboot, which must go well.
func (l lab) comesUp(t *testing.T, args ...string) {
	t.Helper()
	if e := l.signalAt(t, os.Interrupt, never, args...); e.exitCode != 0 {
		t.Fatalf("%v ended with %d: %+v", args, e.exitCode, e.failure)
	}
}

// addressesOf returns the addresses of a cluster's control-plane machines and of its load balancer, by their names.
func addressesOf(t *testing.T, cluster string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, role := range []string{"control-plane", kind.LoadBalancerRole} {
		for _, name := range strings.Fields(docker(t, "ps", "--format", "{{.Names}}", "--filter", "label="+
			kind.ClusterLabel+"="+cluster, "--filter", "label="+kind.RoleLabel+"="+role)) {
			all[name] = addressOf(t, name)
		}
	}
	return all
}

func addressOf(t *testing.T, container string) string {
	t.Helper()
	return docker(t, "inspect", "--format", "{{.NetworkSettings.Networks.kind.IPAddress}}", container)
}

// sameAddresses fails the test unless containers have the addresses that they had, and nothing holds others any more.
func (l lab) sameAddresses(t *testing.T, before map[string]string) {
	t.Helper()
	for name, address := range before {
		if got := addressOf(t, name); got != address {
			t.Errorf("%s has the address %s, had %s", name, got, address)
		}
	}
	if left := containers(t, owned.HoldsLabel); len(left) > 0 {
		t.Errorf("containers that held addresses are left: %v", left)
	}
}

// first is what was there when machines were seen for the first time.
type first struct {
	containers map[string]string // of machines and their load balancer: the IDs by names
	authority  []byte            // of the cluster, in PEM
}

// unchanged fails the test unless the machines are those that were there first, which are one control plane. They need
// not run.
func (f *first) unchanged(t *testing.T, cluster string) {
	t.Helper()
	now := map[string]string{}
	for _, name := range containers(t, kind.ClusterLabel+"="+cluster) {
		now[name] = docker(t, "inspect", "--format", "{{.Id}}", name)
	}
	if len(now) == 0 && len(f.containers) == 0 {
		return
	}
	controlPlanes := strings.Fields(docker(t, "ps", "-a", "--format", "{{.Names}}", "--filter",
		"label="+kind.ClusterLabel+"="+cluster,
		"--filter", "label="+kind.RoleLabel+"=control-plane"))
	if len(controlPlanes) != 1 {
		t.Fatalf("the control plane has the machines %v, want one", controlPlanes)
	}
	authority := authorityOf(t, controlPlanes[0])
	if f.containers == nil {
		f.containers, f.authority = now, authority
	}
	for name, id := range f.containers {
		if now[name] != id {
			t.Errorf("container %s has the ID %q, was %s", name, now[name], id)
		}
	}
	if len(now) != len(f.containers) {
		t.Errorf("the cluster has the containers %v, had %v", now, f.containers)
	}
	if !bytes.Equal(authority, f.authority) {
		t.Errorf("machine %s has another certificate authority than at first", controlPlanes[0])
	}
}

// isAuthorityOf fails the test unless a kubeconfig is of the cluster that was there first.
func (f *first) isAuthorityOf(t *testing.T, kubeconfig string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range config.Clusters {
		if !bytes.Equal(bytes.TrimSpace(c.CertificateAuthorityData), bytes.TrimSpace(f.authority)) {
			t.Errorf("the kubeconfig trusts another certificate authority for cluster %s than the machine's", name)
		}
	}
}

// authorityOf returns the certificate authority that a machine was made with. The machine need not run.
func authorityOf(t *testing.T, machine string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.crt")
	docker(t, "cp", machine+":/etc/kubernetes/pki/ca.crt", file)
	authority, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}
