//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixBootstrapLost takes the only definition out of reach: the management cluster answers, nothing is in it yet,
// and the node of the bootstrap cluster is paused, then gone. `up` refuses, names what is there, and makes no second
// control plane.
func TestMatrixBootstrapLost(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle, "--timeout", "60s"}
	killed, code := l.killAt(t, func(e event.Event) bool {
		return e.Type == event.PhaseStarted &&
			e.Phase == "management-release"
	}, up[:4]...)
	if !killed {
		t.Fatalf("up ended with %d before it began to install the release", code)
	}
	made, node := first{}, kind.NodeName(owned.BootstrapCluster(l.name))
	made.unchanged(t, l.name)
	for _, tc := range []struct {
		name       string
		make       []string // arguments of docker
		code       int
		says, hint string
	}{
		{"its node is paused", []string{"pause", node}, 32, "is paused", "docker unpause " + node},
		{"its node is gone", []string{"rm", "--force", "--volumes", node}, 61,
			"does not hold its own definition, and no bootstrap cluster does", "cluster-init cleanup " + l.name},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docker(t, tc.make...)
			e := l.signalAt(t, os.Interrupt, never, up...)
			if e.exitCode != tc.code || !strings.Contains(e.failure.Message, tc.says) ||
				!strings.Contains(e.failure.Hint, tc.hint) {
				t.Errorf("up ended with %d: %+v", e.exitCode, e.failure)
			}
			made.unchanged(t, l.name)
			// the cluster answers and holds no Cluster: cleanup may delete it, and does after this test
			if tc.code == 61 {
				return
			}
			if code, _ := l.run(t, "cleanup", l.name, "--yes"); code != 72 {
				t.Errorf("cleanup without --force ended with %d, want 72", code)
			}
			made.unchanged(t, l.name)
		})
	}
}

// refusesAnotherProvider asks for the cluster on machines of another provider: nothing of it is touched, and nothing
// made.
func (l lab) refusesAnotherProvider(t *testing.T, project project, up []string) {
	t.Helper()
	servers := project.names(t, openstack.KindServer)
	e := l.signalAt(t, os.Interrupt, never, append([]string{"up", environmentName, "--set", "cluster.name=" + l.name},
		up[2:]...)...)
	if e.exitCode != 34 || !strings.Contains(e.failure.Message, `cluster.infra_provider: "capo" -> "capd"`) {
		t.Errorf("up ended with %d: %+v", e.exitCode, e.failure)
	}
	if now := project.names(t, openstack.KindServer); !slices.Equal(now, servers) {
		t.Errorf("the project has the servers %v, had %v", now, servers)
	}
	if made := containers(t, "io.x-k8s.kind.cluster="+l.name+"-bootstrap"); len(made) > 0 {
		t.Errorf("a bootstrap cluster was made: %v", made)
	}
}
