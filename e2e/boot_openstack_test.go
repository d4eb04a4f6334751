//go:build e2e

package e2e

import (
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
)

// TestMatrixBootOpenStack makes nodes of servers whose image has nothing of Kubernetes, with real cloud-init. Their
// files come from their own URLs, as they do not reach the registry of this machine.
func TestMatrixBootOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.StockImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	program, release := newProgram(t), l.newRelease(t, l.openStackMachines(t))
	up := append([]string{"up", l.name, "--bundle", l.bundle}, from...)
	if code, _ := l.run(t, append(up, "--values", release.values(t, program, release.version, nil))...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	for _, machine := range containers(t, serverLabel) {
		has(t, machine, map[string]string{"its programs": "test -x /usr/bin/kubelet && test -x /opt/cni/bin/loopback",
			"its URLs": "grep -F " + release.address + " /etc/machineadm/machine.yaml"})
	}
	l.cleanupOpenStack(t, project, before)
}
