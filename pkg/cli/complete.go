package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// choices is the annotation of a flag that lists what it may be.
const choices = "cluster-init/choices"

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
			if of := f.Annotations[choices]; of != nil {
				completeFlag(c, f.Name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
			}
			if f.Name == "set" {
				completeFlag(c, f.Name, completeKey)
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
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(wanted) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch strings.Trim(wanted[len(args)], "[]") {
		case "ENVIRONMENT":
			return environment.List(clusterinit.Content()), cobra.ShellCompDirectiveDefault // or a folder
		case "ID":
			return runIDs(), cobra.ShellCompDirectiveDefault // or a file
		case "DIR", "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
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

// completeKey completes the key of --set, a level at a time.
func completeKey(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil || strings.Contains(begun, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	depth := strings.Count(begun, ".")
	var found []cobra.Completion
	for _, k := range keys {
		if strings.Count(k.Path, ".") != depth || !strings.HasPrefix(k.Path, begun) {
			continue
		}
		end := "="
		if slices.ContainsFunc(keys, func(below environment.Key) bool { return strings.HasPrefix(below.Path, k.Path+".") }) {
			end = "."
		}
		found = append(found, cobra.CompletionWithDesc(k.Path+end, k.Description))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
