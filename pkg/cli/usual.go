package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// oneOrUsual is for commands that only look: they take an environment, or none where only one was ever run on this machine.
func oneOrUsual(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exactlyOne("ENVIRONMENT")(c, args)
}

// withUsual runs a command with the environment that is named, or else with the only one whose runs are kept on this machine.
func withUsual(run func(ctx context.Context, name string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return run(c.Context(), args[0])
		}
		name, err := usualEnvironment()
		if err != nil {
			return err
		}
		return run(c.Context(), name)
	}
}

// usualEnvironment is the only one whose runs are kept on this machine. A run that cannot be read may be one of another environment.
func usualEnvironment() (string, error) {
	store, err := runStore()
	if err != nil {
		return "", err
	}
	list, err := store.List()
	if err != nil {
		return "", err
	}
	var names []string
	for _, r := range list {
		if r.Unreadable != "" {
			return "", fault.New(fault.Usage, fmt.Sprintf("no environment is named, and run %s, which cannot be read, may be of another one than the rest: %s", r.ID, r.Unreadable), "Name the environment.")
		}
		if r.Command == "restore" { // of a backup, which tells no environment
			continue
		}
		if !slices.Contains(names, r.Environment) {
			names = append(names, r.Environment)
		}
	}
	switch len(names) {
	case 0:
		return "", fault.New(fault.Usage, "no environment is named, and no run on this machine is kept that tells one", "Name one of those that cluster-init environments lists, or the folder of your own.")
	case 1:
		return names[0], nil
	}
	slices.Sort(names)
	return "", fault.New(fault.Usage, "no environment is named, and there were runs of several on this machine: "+strings.Join(names, ", "), "Name one of them.")
}
