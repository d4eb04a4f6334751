package environment

import (
	"cmp"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Argument is how a command names the environment, quoted for a shell: its name, or the path that this run was given.
func (e *Environment) Argument() string { return oneline.Shell(cmp.Or(e.argument, e.name)) }
