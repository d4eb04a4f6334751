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

// oneOrDefault is for commands that only look: they take an environment, or none where up ran with only one on this
// machine.
func oneOrDefault(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exactlyOne("ENVIRONMENT")(c, args)
}

// withUsual runs a command with the environment that is named, or else with the only one whose runs are kept on this
// machine.
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

// defaultEnvironment is the only one of which a run of up is kept on this machine. A run that cannot be read may be one
// of another environment.
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
				fmt.Sprintf("no environment is named, and run %s, which cannot be read, may be of another one than "+
					"the rest: %s", r.ID, r.Unreadable), "Name the environment.")
		}
		if r.Command == "up" && !slices.Contains(names, r.Of()) { // others can be of a cluster or a backup
			names = append(names, r.Of())
		}
	}
	switch len(names) {
	case 0:
		return "", fault.New(fault.Usage, "no environment is named, and no run of up is kept on this machine that "+
			"tells one", "Name one of those that cluster-init environments lists, or the folder of your own.")
	case 1:
		return names[0], nil
	}
	slices.Sort(names)
	return "", fault.New(fault.Usage, "no environment is named, and there were runs of up with several on this "+
		"machine: "+strings.Join(names, ", "), "Name one of them.")
}

// ownFolder is the field of a run's first event for an environment that is a folder of the user's own; nil: it is none.
func ownFolder(environment string) map[string]string {
	if !strings.ContainsRune(environment, filepath.Separator) && !strings.HasPrefix(environment, ".") {
		return nil
	}
	info, err := os.Stat(environment)
	if err != nil || !info.IsDir() {
		return nil
	}
	path, err := filepath.Abs(environment)
	if err != nil { // nobody knows where this process is
		return nil
	}
	return map[string]string{runs.FolderField: path}
}
