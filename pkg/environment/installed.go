package environment

import (
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Installed reports whether the environment was loaded with Options.Installed.
func (e *Environment) Installed() bool { return e.installed }

// SelfName is the value of owned.InstalledAnnotation for the environment.
func (e *Environment) SelfName() string {
	return owned.SuspendedFor(e.ClusterNamespace(), e.ClusterName())
}

// AsInstalled returns the environment as `install` applies it to an existing cluster.
func (e *Environment) AsInstalled() (*Environment, error) {
	installed := *e
	installed.installed = true
	return installed.WithOverrides(withoutMachines())
}

// withoutMachines are the values of a management cluster that exists already: the tool that created it has installed
// the network, the cloud controller and the volumes of its nodes.
func withoutMachines() map[string]any {
	off := map[string]any{}
	for _, name := range []string{"cluster", "cni", "cloud-provider", "cinder-csi"} {
		off[name] = map[string]any{"enabled": false}
	}
	return map[string]any{"components": off}
}

// checkNoBackup refuses backups on a schedule of a cluster without a definition of its own, which backup refuses too.
func (e *Environment) checkNoBackup() error {
	const enabled = "components." + owned.BackupComponent + ".enabled"
	if !e.enabled(Management, owned.BackupComponent) {
		return nil
	}
	return fault.New(fault.ValuesInvalid, e.whence(enabled)+"component \"backup\" is enabled, and an existing cluster "+
		"has no definition of its own that could be backed up ("+enabled+")", "Leave "+enabled+" out.")
}

// checkNoCluster refuses a definition of the management cluster itself: nothing made its machines by that definition.
func (e *Environment) checkNoCluster() error {
	if !e.enabled(Management, "cluster") {
		return nil
	}
	const enabled = "components.cluster.enabled"
	return fault.New(fault.ValuesInvalid, e.whence(enabled)+"component \"cluster\" is enabled, and an existing "+
		"cluster "+
		"has no definition of its own ("+enabled+")",
		"Leave "+enabled+" out. To build a cluster that manages itself: cluster-init up.")
}
