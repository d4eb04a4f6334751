package environment

import (
	"cmp"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Argument is how a command names the environment, for a shell: its name, or the folder as this run was given it.
func (e *Environment) Argument() string { return oneline.Shell(cmp.Or(e.argument, e.name)) }
