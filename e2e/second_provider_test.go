//go:build e2e

package e2e

import (
	"maps"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// TestMatrixSecondProvider builds a management cluster on Docker that also has the provider for OpenStack, which
// makes a workload cluster of a server. Nothing of the management cluster itself is in the project.
func TestMatrixSecondProvider(t *testing.T) {
	l, project := openStackLab(t, environmentName, resource.ServerImage)
	l.needBundle(t)
	watchArguments(t, project.secret)
	before := project.inventory(t)
	up := []string{"up", l.name, "--bundle", l.bundle, "--set", "components.orc.enabled=management-only",
		"--set", "components.capo.enabled=management-only"}
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	management.managesItself(t)
	if servers := project.names(t, openstack.KindServer); len(servers) > 0 {
		t.Errorf("the management cluster has the servers %v", servers)
	}
	t.Run("a workload cluster on OpenStack is made and deleted", func(t *testing.T) {
		l.workloadOnOpenStack(t, project)
	})
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	cleanup(t, l)
	if after := project.inventory(t); !maps.Equal(before, after) {
		t.Errorf("the project had %v, and has %v", before, after)
	}
}
