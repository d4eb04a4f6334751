//go:build e2e

package e2e

import (
	"os/exec"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// tellsWhy logs what keeps a workload cluster on OpenStack from becoming ready: what `workload diagnose` finds, how
// this machine leads to the floating addresses, and what each server has and reaches. It fails no test.
func (l lab) tellsWhy(t *testing.T, project project) {
	t.Helper()
	l.run(t, "workload", "diagnose", workloadName+"/"+workloadName, "--in", l.name)
	tell(t, "ip", "-4", "route")
	tell(t, "iptables", "-S", "DOCKER-USER")
	addresses := project.names(t, openstack.KindFloatingIP)
	for _, server := range project.names(t, openstack.KindServer) {
		for _, name := range containers(t, serverLabel+"="+project.server(t, server).ID) {
			tell(t, "docker", "exec", name, "ip", "-4", "-brief", "address")
			tell(t, "docker", "exec", name, "crictl", "ps", "-a")
			for _, address := range addresses {
				tell(t, "docker", "exec", name, "curl", "-skv", "--max-time", "5", "https://"+address+":6443/readyz")
			}
		}
	}
}

// tell logs a command and all that it prints.
func tell(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	t.Logf("%s %v: %v\n%s", name, args, err, out)
}
