package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

// oneOrDefault is for read-only commands. They take an environment, or none if up ran with only one on this machine.
func oneOrDefault(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exactlyOne("ENVIRONMENT")(c, args)
}

// withUsual runs a command with the given environment, or with the default one.
func withUsual(run func(ctx context.Context, name string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return run(c.Context(), args[0])
		}
		name, err := defaultEnvironment()
		if err != nil {
			return err
		}
		return run(c.Context(), name)
	}
}

// defaultEnvironment returns the only environment with kept runs of up on this machine. It fails if a run cannot be
// read, because that may be of another environment.
func defaultEnvironment() (string, error) {
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
			return "", fault.New(fault.Usage,
				fmt.Sprintf("no environment is given, and run %s cannot be read, so it may be of another "+
					"environment: %s", r.ID, r.Unreadable), "Give the environment.")
		}
		if r.Command == "up" && !slices.Contains(names, r.Of()) { // other commands may run on a cluster or a backup
			names = append(names, r.Of())
		}
	}
	switch len(names) {
	case 0:
		return "", fault.New(fault.Usage, "no environment is given, and no run of up is kept on this machine",
			"Give a name that cluster-init environments lists, or the path of your own folder.")
	case 1:
		return names[0], nil
	}
	slices.Sort(names)
	return "", fault.New(fault.Usage, "no environment is given, and up ran with several on this machine: "+
		strings.Join(names, ", "), "Give one of them.")
}

// ownFolder returns the field of a run's first event for an environment in the user's folder. Nil for a built-in one.
func ownFolder(environment string) map[string]string {
	if !strings.ContainsRune(environment, filepath.Separator) && !strings.HasPrefix(environment, ".") {
		return nil
	}
	info, err := os.Stat(environment)
	if err != nil || !info.IsDir() {
		return nil
	}
	path, err := filepath.Abs(environment)
	if err != nil { // the working directory is gone
		return nil
	}
	return map[string]string{runs.FolderField: path}
}
