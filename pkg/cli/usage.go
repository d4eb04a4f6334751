package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
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

func unknownCommand(c *cobra.Command, name string) error {
	var known []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			known = append(known, below.Name())
		}
	}
	return fault.New(fault.Usage, fmt.Sprintf("unknown command %q for %q", name, c.CommandPath()),
		suggest.Hint(name, known, c.CommandPath()+" ")+"See "+c.CommandPath()+" --help.")
}

// onlyCommands is what a command does that is there for the commands below it.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return c.Help()
}

// refuseUnknown has cobra's own commands end as others do: they print their help for a command that does not exist.
func refuseUnknown(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = cobra.ArbitraryArgs, onlyCommands
		case "help":
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				switch {
				case err != nil || len(args) > 0 && found == root:
					return unknownCommand(root, args[0])
				case found.HasSubCommands() && len(rest) > 0:
					return unknownCommand(found, rest[0])
				}
				found.InitDefaultHelpFlag()
				return found.Help()
			}
		}
	}
}
