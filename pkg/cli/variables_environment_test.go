package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// An environment reads no variable that sets a flag, nor the passphrase of a key.
func TestEnvironmentsReadNoVariablesOfFlags(t *testing.T) {
	if environment.MayUse(sshPassphrase) {
		t.Errorf("an environment may use %s", sshPassphrase)
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for name := range flagsByVariable(c) {
			if environment.MayUse(name) {
				t.Errorf("an environment may use %s, which is that of a flag", name)
			}
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot(Streams{}))
}
