//go:build e2e

package e2e

import (
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
)

// TestMatrixMachineadmOpenStack does on OpenStack, with real cloud-init, what TestMatrixMachineadm does on Docker: a
// machine that cannot be prepared is named by its console.
func TestMatrixMachineadmOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	program, up := newProgram(t), append([]string{"up", l.name, "--bundle", l.bundle}, from...)
	var secrets []string
	bad := program.with(t, program.digest, func(cluster, machines map[string]any) {
		secrets = seeds(cluster)
		machines["sysctls"] = map[string]any{"net.e2e_nope": 1}
	})
	l.endsNaming(t, append(up, "--values", bad), serverLabel,
		"set kernel parameter net.e2e_nope: the kernel does not have it")
	for _, machine := range containers(t, serverLabel) {
		has(t, machine, map[string]string{"no manifests": `test -z "$(ls /etc/kubernetes/manifests)"`})
		reportsNone(t, machine, secrets)
	}
	l.cleanupOpenStack(t, project, before)
	good := program.with(t, program.digest, func(_, _ map[string]any) {})
	if code, _ := l.run(t, append(up, "--values", good)...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	for _, machine := range containers(t, serverLabel) {
		hasMachineSettings(t, machine)
		hasReport(t, machine, "")
	}
	l.cleanupOpenStack(t, project, before)
}
