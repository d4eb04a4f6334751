package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// asUsage gives an error that comes before any command has begun its code and a hint: cobra has no kind of its own for
// unknown commands and for arguments that are missing or too many.
func asUsage(c *cobra.Command, err error) error {
	if err == nil || fault.CodeOf(err) != fault.Unknown {
		return err
	}
	message, suggested, _ := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	hint := "See " + c.CommandPath() + " --help."
	for _, command := range strings.Fields(suggested) {
		hint = "Did you mean this: " + c.CommandPath() + " " + command + "\n" + hint
	}
	return fault.New(fault.Usage, message, hint)
}
