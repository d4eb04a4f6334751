package engine

import (
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// cpuController is where a machine with cgroup v1 has the CPU weights of its groups.
const cpuController = "/sys/fs/cgroup/cpu"

// containersWeight is the CPU weight of all containers together. By default they have 1024, as much as one process
// outside of them: with three busy ones next to them, two clusters got a quarter of the CPU, and their controllers lost
// their leases. With four times as much, the clusters and the OpenStack that they ask are about even.
const containersWeight = "4096"

// weighContainers gives the containers of this machine their CPU weight. With cgroup v2 it does nothing: there the
// engine is in a group, too. A machine that does not allow it is only slower.
func weighContainers(controller string, say *progress.Printer) {
	if _, err := os.Stat(filepath.Join(controller, "cpu.shares")); err != nil {
		return
	}
	group := filepath.Join(controller, "docker") // the engine makes it with the first container, and keeps its weight
	err := os.MkdirAll(group, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(group, "cpu.shares"), []byte(containersWeight), 0o644)
	}
	if err != nil {
		say.Say("containers keep the CPU weight of one process: %v", err)
	}
}
