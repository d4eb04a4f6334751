//go:build e2e

package e2e

import (
	"maps"
	"strings"
	"testing"
)

// machineSettings are settings of machines that can be seen in a container. net.core.somaxconn is the container's own.
func machineSettings() map[string]any {
	return map[string]any{"cluster": map[string]any{"machines": map[string]any{
		"files": []any{map[string]any{"path": "/opt/e2e/file", "content": "  {{ a }} and $${B}, $C\n",
			"permissions": "0640"}},
		"pre_commands": []any{"test -e /opt/e2e/file && test ! -e /etc/kubernetes/kubelet.conf && " +
			"touch /opt/e2e/before"},
		"post_commands": []any{"test -e /etc/kubernetes/kubelet.conf && touch /opt/e2e/after"},
		"sysctls":       map[string]any{"net.core.somaxconn": 4095}}}}
}

// TestMatrixMachines gives machines files, commands and kernel parameters: those of a management cluster by
// cloud-config, and those of a workload cluster by Ignition.
func TestMatrixMachines(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	settings := valuesFile(t, machineSettings())
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle, "--values", settings, "--set",
		"cluster.bootstrap_formats={ignition}"); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	hasMachineSettings(t, controlPlane(t, l.name))
	in, own := []string{"--in", l.name}, workloadName+"/"+workloadName
	apply := append([]string{"workload", "apply"}, l.workloadDefinition("--values", settings, "--set",
		"cluster.bootstrap_format=ignition")...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	l.hasReadyNode(t, own)
	hasMachineSettings(t, controlPlane(t, workloadName))
	l.deleteWorkload(t, own, in)
	cleanup(t, l)
}

// hasMachineSettings sees machineSettings in a machine.
func hasMachineSettings(t *testing.T, machine string) {
	t.Helper()
	got := map[string]string{}
	for name, command := range map[string]string{"file": "cat /opt/e2e/file", "mode": "stat -c %a:%U:%G /opt/e2e/file",
		"commands": "ls /opt/e2e", "sysctl": "cat /proc/sys/net/core/somaxconn"} {
		got[name] = strings.Join(strings.Fields(docker(t, "exec", machine, "sh", "-c", command)), " ")
	}
	want := map[string]string{"file": "{{ a }} and ${B}, $C", "mode": "640:root:root", "commands": "after before file",
		"sysctl": "4095"}
	if !maps.Equal(got, want) {
		t.Errorf("%s has %v, want %v", machine, got, want)
	}
}
