package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// choices is the annotation with the allowed values of a flag.
const choices = "cluster-init/choices"

// assigned is the annotation with the possible names of a flag of the form NAME=VALUE, each with the =.
const assigned = "cluster-init/assigned"

// choose registers a flag that takes one of several words. The first word is the default.
func choose(f *pflag.FlagSet, value *string, name, shorthand, usage string, of ...string) {
	f.StringVarP(value, name, shorthand, of[0], usage)
	f.Lookup(name).Annotations = map[string][]string{choices: of}
}

// completeAll registers shell completion for each command below root: environments, runs and flag values.
func completeAll(root *cobra.Command) {
	for _, c := range root.Commands() {
		completeArguments(c)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch of := f.Annotations[choices]; {
			case of != nil:
				completeFlag(c, f.Name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
			case f.Annotations[assigned] != nil:
				completeFlag(c, f.Name, cobra.FixedCompletions(f.Annotations[assigned],
					cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
			case f.Name == "set":
				completeFlag(c, f.Name, completeSetting)
			case f.Name == "allow-changes" || f.Name == "new" || f.Value.Type() == "duration" ||
				f.Value.Type() == "int32":
				// Files are never values of these flags.
				completeFlag(c, f.Name, cobra.NoFileCompletions)
			}
		})
		completeAll(c)
	}
}

func completeFlag(c *cobra.Command, name string, with cobra.CompletionFunc) {
	_ = c.RegisterFlagCompletionFunc(name, with) // it fails only for an unknown flag, or one that is registered already
}

// completeArguments completes the arguments that a command names in its usage line.
func completeArguments(c *cobra.Command) {
	if c.ValidArgsFunction != nil {
		return
	}
	wanted := strings.Fields(c.Use)[1:]
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		if len(args) >= len(wanted) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch strings.Trim(wanted[len(args)], "[]") {
		case "ENVIRONMENT":
			return completeEnvironment(begun)
		case "ID":
			return runIDs(), cobra.ShellCompDirectiveDefault // or a file
		case "DIR", "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeEnvironment completes an environment of this binary, or a folder. Only a path with a / means a folder.
func completeEnvironment(begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	begins := func(name string) bool { return strings.HasPrefix(name, begun) }
	var found []cobra.Completion
	for _, name := range environment.List(clusterinit.Content()) {
		if begins(name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs // the shell completes folders, and expands ~
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	here, _ := os.ReadDir(".") // what cannot be read is not completed
	for _, entry := range here {
		if info, err := os.Stat(entry.Name()); err == nil && info.IsDir() && begins(entry.Name()) &&
			!strings.HasPrefix(entry.Name(), ".") {
			found, directive = append(found, entry.Name()+"/"), cobra.ShellCompDirectiveNoFileComp|
				cobra.ShellCompDirectiveNoSpace
		}
	}
	return found, directive
}

// runIDs returns "last" and the IDs of the kept runs, also of unreadable ones. It returns nothing if they cannot be
// listed.
func runIDs() []string {
	store, err := runStore()
	if err != nil {
		return nil
	}
	list, err := store.List()
	if err != nil {
		return nil
	}
	ids := []string{"last"}
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}
