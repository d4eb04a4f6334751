package cli

import (
	"errors"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// exitCodes gives every fault its own exit code. They are documented in docs/reference/exit-codes.md and never change.
func exitCodes() map[fault.Code]int {
	return map[fault.Code]int{
		"":                         0,
		fault.Unknown:              1,
		fault.Usage:                2,
		fault.EnvironmentUnknown:   10,
		fault.EnvironmentInvalid:   11,
		fault.ValuesInvalid:        12,
		fault.VariableMissing:      13,
		fault.ComponentUnknown:     14,
		fault.ComponentCycle:       15,
		fault.CredentialsMissing:   16,
		fault.DockerUnreachable:    20,
		fault.DockerPrivileged:     21,
		fault.DockerFailed:         22,
		fault.HostResources:        23,
		fault.PortTaken:            24,
		fault.CloudUnreachable:     26,
		fault.CloudRefused:         27,
		fault.CloudLacks:           28,
		fault.ClusterForeign:       30,
		fault.ClusterFailed:        31,
		fault.ClusterUnreachable:   32,
		fault.Busy:                 33,
		fault.ChangeRefused:        34,
		fault.KubeconfigRefused:    35,
		fault.MachineUnreachable:   36,
		fault.BundleInvalid:        40,
		fault.SourceUnreadable:     41,
		fault.ComponentStuck:       50,
		fault.Timeout:              51,
		fault.PivotRefused:         60,
		fault.PivotFailed:          61,
		fault.BackupRefused:        62,
		fault.BackupInvalid:        63,
		fault.RestoreRefused:       64,
		fault.RestoreFailed:        65,
		fault.BackupIncomplete:     66,
		fault.BackupNotPruned:      67,
		fault.CleanupFailed:        70,
		fault.ConfirmationRequired: 71,
		fault.CleanupRefused:       72,
		fault.StatusProgressing:    80,
		fault.StatusAbsent:         81,
		fault.StatusBroken:         82,
		fault.RunUnknown:           83,
		fault.RunUnreadable:        84,
		fault.Differs:              85,
		fault.Interrupted:          130,
	}
}

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	if code, known := exitCodes()[fault.CodeOf(err)]; known {
		return code
	}
	return 1
}

// reportedError marks an error that a view has shown already.
type reportedError struct{ error }

// Unwrap returns the error that was shown.
func (t reportedError) Unwrap() error { return t.error }

func wasReported(err error) bool {
	_, ok := errors.AsType[reportedError](err)
	return ok
}
