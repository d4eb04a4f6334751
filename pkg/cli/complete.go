package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// choices is the annotation of a flag that lists what it may be.
const choices = "cluster-init/choices"

// assigned is the annotation of a flag of the form NAME=VALUE that lists what may come first, with the =.
const assigned = "cluster-init/assigned"

// choose registers a flag that is one of several words, the first of which is its default.
func choose(f *pflag.FlagSet, value *string, name, shorthand, usage string, of ...string) {
	f.StringVarP(value, name, shorthand, of[0], usage)
	f.Lookup(name).Annotations = map[string][]string{choices: of}
}

// completeAll gives each command below root what a shell completes: environments, runs, and what flags may be.
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
				// of no such thing there are files
				completeFlag(c, f.Name, cobra.NoFileCompletions)
			}
		})
		completeAll(c)
	}
}

func completeFlag(c *cobra.Command, name string, with cobra.CompletionFunc) {
	_ = c.RegisterFlagCompletionFunc(name, with) // it fails only for a flag that is not there, or done already
}

// completeArguments goes by what a command says that it takes.
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

// completeEnvironment completes an environment of this binary, or a folder, which only a path with a / means.
func completeEnvironment(begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	begins := func(name string) bool { return strings.HasPrefix(name, begun) }
	var found []cobra.Completion
	for _, name := range environment.List(clusterinit.Content()) {
		if begins(name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs // by the shell, which knows of ~; it takes no names besides
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

// runIDs are the runs that are kept. What cannot be read is not completed.
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
