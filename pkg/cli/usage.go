package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// asUsage adds a code and a hint to an error that occurred before a command began. cobra has no error types for unknown
// commands and wrong arguments.
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

// onlyCommands runs a command that only groups others: it prints its help, and refuses arguments.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return c.Help()
}

// refuseUnknown makes the commands of cobra refuse unknown commands. They would print their help instead.
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
