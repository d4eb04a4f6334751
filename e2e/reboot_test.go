//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
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
	// The bootstrap cluster's node is deleted by the last phase, which may have done that before it was killed.
	if kept := len(containers(t, kind.ClusterLabel+"="+owned.BootstrapCluster(l.name))) > 0; l.afterReboot(
		t, up, kept) {
		management := l.management(t)
		l.built(t, management)
		management.bootstrapped(t)
		made.isAuthorityOf(t, l.kubeconfig(l.name))
	}
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
		if l.afterReboot(t, up, false) {
			l.management(t).managesItself(t)
		}
		made.unchanged(t, l.name)
		if left := containers(t, kind.ClusterLabel+"="+owned.BootstrapCluster(l.name)); len(left) > 0 {
			t.Errorf("a bootstrap cluster was made again: %v", left)
		}
	})
}

// afterReboot runs `up`, and returns whether it went well. Docker gives out addresses in the order of the starts:
// without the bootstrap cluster's node the machines may get others than they were made with, and do not come up. Then
// `up` says so, and names them.
func (l lab) afterReboot(t *testing.T, up []string, sameAddresses bool) bool {
	t.Helper()
	machine := machines(t)
	e := l.signalAt(t, os.Interrupt, never, up...)
	switch {
	case e.exitCode == 0:
		return true
	case sameAddresses || e.exitCode != 32:
		t.Errorf("up ended with %d: %+v", e.exitCode, e.failure)
	case e.failure.Hint == "":
		t.Errorf("no hint says what to do: %+v", e.failure)
	}
	for _, name := range machine {
		if !strings.Contains(e.failure.Message, name) {
			t.Errorf("it does not name the machine %s: %+v", name, e.failure)
		}
	}
	return false
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
