//go:build e2e

package e2e

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

const rke2Name = "rke2-capd"

// TestMatrixRebootRKE2 reboots a cluster of one server, with its bootstrap cluster and without.
func TestMatrixRebootRKE2(t *testing.T) {
	l := newLabFor(t, rke2Name)
	cleanBefore(t, l)
	up := []string{"up", rke2Name, "--bundle", l.bundle}
	if code, _ := l.run(t, append(up, "--keep-bootstrap")...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	rebooted(t, rke2Name)
	t.Setenv(alarmsVariable, "") // it begins with containers that are stopped, which is no false alarm
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.built(t, l.management(t))
	rebooted(t, rke2Name)
	l.comesUp(t, "start", rke2Name)
	l.management(t).managesItself(t)
}

// TestMatrixRKE2 grows a cluster of one server to three and an agent, and then replaces every machine, by what manages
// itself after the pivot. Its machines have settings.
func TestMatrixRKE2(t *testing.T) {
	l := newLabFor(t, rke2Name)
	cleanBefore(t, l)
	up := []string{"up", rke2Name, "--bundle", l.bundle, "--values", valuesFile(t, rke2Settings(t))}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	server := controlPlane(t, rke2Name)
	hasMachineSettings(t, server)
	hasArguments(t, server)
	has(t, server, map[string]string{
		"a name in the certificate": "grep api.e2e.example.org /etc/rancher/rke2/config.yaml",
		"a report of machineadm":    "grep '\"result\": \"prepared\"' " + machineadm.ReportPath,
		"nothing before kubeadm":    "test ! -e /usr/local/sbin/kubeadm"})
	management := l.management(t)
	before := boots(t, rke2Name)
	up = append(up, "--set", "cluster.control_plane.replicas=3", "--set", "cluster.worker.replicas=1",
		"--set", "cluster.drain_seconds=120")
	t.Run("three servers and an agent", func(t *testing.T) {
		if code, _ := l.run(t, up...); code != 0 {
			t.Fatalf("up ended with %d", code)
		}
		management.managesItself(t)
		now := boots(t, rke2Name)
		for name, first := range before {
			if now[name] != first {
				t.Errorf("%s is now %+v, was %+v", name, now[name], first)
			}
		}
		if len(now) != 4 {
			t.Fatalf("%d machines, want 4", len(now))
		}
	})
	t.Run("another machine template replaces every machine", func(t *testing.T) {
		old := boots(t, rke2Name)
		if code, _ := l.run(t, append(up, "--values", otherMachines(t))...); code != 0 {
			t.Fatalf("up ended with %d", code)
		}
		now := boots(t, rke2Name)
		for name := range now {
			if _, kept := old[name]; kept {
				t.Errorf("%s is still there", name)
			}
		}
		if len(now) != 4 {
			t.Errorf("%d machines, want 4: %v", len(now), slices.Sorted(maps.Keys(now)))
		}
		management.managesItself(t)
		management.bootstrapped(t)
	})
	t.Run("cleanup shows and deletes", func(t *testing.T) { cleanup(t, l) })
}

// rke2Settings are machineSettings without those that RKE2's stand-in does not have.
func rke2Settings(t *testing.T) map[string]any {
	t.Helper()
	values := machineSettings()
	program := newProgram(t)
	values["cluster"].(map[string]any)["machineadm"] = program.values(program.digest)
	delete(values["cluster"].(map[string]any), "security_profile")
	kubernetes := values["cluster"].(map[string]any)["kubernetes"].(map[string]any)
	for _, key := range []string{"audit_policy", "encryption_at_rest", "admission"} {
		delete(kubernetes, key)
	}
	return values
}

// boot is what changes when a machine is made or bootstrapped again: bootstrapping writes the configuration again, and
// starts the service of RKE2 or the kubelet when that does not run.
type boot struct{ container, started, configured, service string }

// boots returns the boot of every machine of a cluster.
func boots(t *testing.T, cluster string) map[string]boot {
	t.Helper()
	found := map[string]boot{}
	for _, role := range []string{"control-plane", "worker"} {
		for _, name := range containers(t, "io.x-k8s.kind.cluster="+cluster) {
			labels := docker(t, "inspect", "--format",
				`{{.Id}} {{.State.StartedAt}} {{index .Config.Labels "io.x-k8s.kind.role"}}`, name)
			id, rest, _ := strings.Cut(labels, " ")
			started, has, _ := strings.Cut(rest, " ")
			if has != role {
				continue
			}
			service, config := map[string]string{"control-plane": "rke2-server", "worker": "rke2-agent"}[role],
				"/etc/rancher/rke2/config.yaml"
			if !strings.HasPrefix(cluster, "rke2") {
				service, config = "kubelet", "/var/lib/kubelet/config.yaml"
			}
			found[name] = boot{
				container: id, started: started,
				configured: docker(t, "exec", name, "stat", "--format=%y", config,
					"/run/cluster-api/bootstrap-success.complete"),
				service: docker(t, "exec", name, "systemctl", "show", "--property=ActiveEnterTimestamp,NRestarts",
					service),
			}
		}
	}
	return found
}

// bootstrapped fails the test unless the provider says of each machine that it is bootstrapped, and the machine carries
// the mark by which the provider knows that after a move.
func (c cluster) bootstrapped(t *testing.T) {
	t.Helper()
	machines := c.list(t, "infrastructure.cluster.x-k8s.io", "v1beta2", "DevMachine")
	if len(machines) == 0 {
		t.Error("no DevMachines")
	}
	for i := range machines {
		if why := unready(&machines[i]); why != "" {
			t.Error(why)
		}
	}
	for _, m := range c.list(t, "cluster.x-k8s.io", "v1beta2", "Machine") { // containers have their names
		docker(t, "exec", m.GetName(), "test", "-e", "/run/cluster-api/capd.bootstrap.started")
	}
}

// movedTemplates fails the test unless the pivot moved the machine templates and the template of the load balancer:
// they are in its backup, which holds what was moved, and on the target with the Cluster as their owner.
func (l lab) movedTemplates(t *testing.T, management cluster) {
	t.Helper()
	moved, err := filepath.Glob(filepath.Join(l.state, "cluster-init", l.name, l.name+"-*", "objects", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range moved {
		names = append(names, filepath.Base(file))
	}
	templates := management.list(t, "infrastructure.cluster.x-k8s.io", "v1beta2", "DevMachineTemplate")
	if len(templates) != 2 {
		t.Errorf("%d machine templates, want 2", len(templates))
	}
	for _, o := range templates {
		if owners := o.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "Cluster" {
			t.Errorf("machine template %s has the owners %+v", o.GetName(), owners)
		}
		if !slices.Contains(names, "DevMachineTemplate.infrastructure.cluster.x-k8s.io_management_"+o.GetName()+
			".yaml") {
			t.Errorf("machine template %s was not moved, but %v", o.GetName(), names)
		}
	}
	if !slices.Contains(names, "ConfigMap_management_"+l.name+"-load-balancer.yaml") {
		t.Errorf("the load balancer's template was not moved, but %v", names)
	}
	eventually(t, "the load balancer's template is there", time.Minute, func(ctx context.Context) bool {
		exists, err := management.Exists(ctx, object("v1", "ConfigMap", "management", l.name+"-load-balancer", nil))
		return err == nil && exists
	})
}

// otherMachines writes values that change the template of all machines, as a user would in Git.
func otherMachines(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	err := os.WriteFile(file, []byte(`components:
  cluster:
    spec:
      patches:
        - target: {kind: DevMachineTemplate}
          patch: |
            - {op: replace, path: /spec/template/spec/backend/docker/bootstrapTimeout, value: 19m}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
