//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// rebooted does to the containers of a cluster what a reboot of the machine does: none of them runs any more.
func rebooted(t *testing.T, name string) {
	t.Helper()
	all := func() []string {
		return slices.Concat([]string{name + "-registry"}, containers(t, "io.x-k8s.kind.cluster="+name),
			containers(t, "io.x-k8s.kind.cluster="+name+"-bootstrap"))
	}
	stop := func(names []string) ([]byte, error) {
		return exec.Command("docker", append([]string{"stop", "--time", "5"}, names...)...).CombinedOutput()
	}
	stopped := all()
	if out, err := stop(stopped); err != nil {
		// The provider may just have removed a container, or made it.
		t.Logf("docker stop %v: %v: %s", stopped, err, out)
		stopped = all()
		if out, err := stop(stopped); err != nil {
			t.Fatalf("docker stop %v: %v: %s", stopped, err, out)
		}
	}
	t.Logf("stopped: %v", stopped)
}

// recoversKubeconfig reads a lost kubeconfig in a machine of the cluster.
func (l lab) recoversKubeconfig(t *testing.T, kubeconfig string) {
	t.Helper()
	if code, out := l.run(t, "kubeconfig", l.name, "--recover"); code != 0 {
		t.Fatalf("kubeconfig --recover ended with %d: %s", code, out)
	}
	info, err := os.Stat(kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("recovered: %v %v, want mode 0600", info, err)
	}
}

// refusesToGuess meets a finished cluster whose bootstrap cluster is still there, in ways in which it cannot be known
// what is so. Each time `up` and `cleanup` end with that, and nothing has changed: what the pivot suspended stays so,
// and there is no other machine.
func (l lab) refusesToGuess(t *testing.T, up []string) {
	up = append(slices.Clone(up), "--timeout", "60s")
	kubeconfig, balancer := l.kubeconfig(l.name), l.name+"-lb"
	moved := kubeconfig + ".elsewhere"
	foreign := filepath.Join(t.TempDir(), "foreign.kubeconfig")
	cases := []struct {
		name       string
		make, undo func(t *testing.T)
		args       []string
		code       int
		says, hint string
	}{
		{"its load balancer is paused",
			func(t *testing.T) { docker(t, "pause", balancer) }, func(t *testing.T) { docker(t, "unpause", balancer) },
			nil,
			32, "does not answer, and the definition was moved into the management cluster", "docker unpause " +
				balancer},
		{"its kubeconfig is gone",
			func(t *testing.T) { rename(t, kubeconfig, moved) },
			func(t *testing.T) { l.recoversKubeconfig(t, kubeconfig) }, nil,
			32, "no kubeconfig of that cluster was found", "cluster-init kubeconfig " + l.name + " --recover"},
		{"the bootstrap cluster is paused",
			func(t *testing.T) { docker(t, "pause", l.name+"-bootstrap-control-plane") },
			func(t *testing.T) { docker(t, "unpause", l.name+"-bootstrap-control-plane") }, nil,
			32, "is paused", "docker unpause " + l.name + "-bootstrap-control-plane"},
		{"the kubeconfig is another cluster's",
			func(t *testing.T) { l.bootstrapKubeconfig(t, foreign) }, func(*testing.T) {},
			[]string{"--kubeconfig", foreign},
			30, "is the kubeconfig of another cluster", "--kubeconfig another file"},
		{"another namespace is asked for",
			func(*testing.T) {}, func(*testing.T) {}, []string{"--set", "cluster.namespace=other"},
			30, "and this run uses namespace other", "--set cluster.namespace="},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			before := containers(t, "io.x-k8s.kind.cluster="+l.name)
			tc.make(t)
			said := l.job(t, tc.code, nil, append(slices.Clone(up), tc.args...)...)
			if code, _ := l.run(t, "cleanup", l.name, "--yes"); code != 72 {
				t.Errorf("cleanup without --force ended with %d, want 72", code)
			}
			tc.undo(t)
			if !strings.Contains(said, tc.says) || !strings.Contains(said, tc.hint) {
				t.Errorf("it does not say %q, or not %q", tc.says, tc.hint)
			}
			if after := containers(t, "io.x-k8s.kind.cluster="+l.name); !slices.Equal(after, before) {
				t.Errorf("the machines are %v, were %v", after, before)
			}
			suspended := docker(t, "exec", l.name+"-bootstrap-control-plane", "kubectl",
				"--kubeconfig=/etc/kubernetes/admin.conf",
				"-n", "flux-system", "get", "kustomization", "cluster", "-o", "jsonpath={.spec.suspend}")
			if suspended != "true" {
				t.Errorf("what the pivot suspended was resumed: %q", suspended)
			}
		})
	}
}

// bootstrapKubeconfig writes the bootstrap cluster's kubeconfig as if it were the management cluster's.
func (l lab) bootstrapKubeconfig(t *testing.T, file string) {
	t.Helper()
	out, err := exec.Command("docker", "exec", l.name+"-bootstrap-control-plane", "cat",
		"/etc/kubernetes/admin.conf").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(out), l.name+"-bootstrap", l.name)),
		0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// refusesWithoutState is `up` where the servers exist and nothing says whose they are: on this machine without the
// kubeconfig, and on another machine or in a CI job, which has no state folder.
func (l lab) refusesWithoutState(t *testing.T, project project, up []string) {
	kubeconfig := l.kubeconfig(l.name)
	rename(t, kubeconfig, kubeconfig+".elsewhere")
	defer rename(t, kubeconfig+".elsewhere", kubeconfig)
	servers := project.names(t, openstack.KindServer)
	for who, other := range map[string]lab{"this machine": l, "another machine": l.stranger(t)} {
		said := other.job(t, 32, nil, slices.Clone(up)...)
		for _, want := range append(slices.Clone(servers), "machines of "+l.name+" exist in OpenStack",
			"put its kubeconfig at "+other.kubeconfig(l.name)) {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q", who, want)
			}
		}
		if now := project.names(t, openstack.KindServer); !slices.Equal(now, servers) {
			t.Errorf("%s: the project has the servers %v, had %v", who, now, servers)
		}
		if made := containers(t, "io.x-k8s.kind.cluster="+l.name+"-bootstrap"); len(made) > 0 {
			t.Errorf("%s: a bootstrap cluster was made: %v", who, made)
		}
	}
}
