package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// givesWayTo is the annotation with the flags that a flag conflicts with. If one of them is typed, the environment
// variable of the flag does not count.
const givesWayTo = "cluster-init/gives-way-to"

// anArgument represents the argument ENVIRONMENT in lists of flags.
const anArgument = "ENVIRONMENT"

// overriddenBy makes the environment variables of the flags in names give way to the typed flags in to.
func overriddenBy(f *pflag.FlagSet, to []string, names ...string) {
	for _, name := range names {
		if flag := f.Lookup(name); flag != nil {
			if flag.Annotations == nil {
				flag.Annotations = map[string][]string{}
			}
			flag.Annotations[givesWayTo] = to
		}
	}
}

// typed returns the flags on the command line, and anArgument if there is an argument. A boolean flag counts only if it
// is true. Call it before flags are set from variables.
func typed(c *cobra.Command) []string {
	var names []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" || f.Value.String() == "true" {
			names = append(names, f.Name)
		}
	})
	if c.Flags().NArg() > 0 {
		names = append(names, anArgument)
	}
	return names
}

// isOverridden reports whether a flag gives way to a typed one.
func isOverridden(flag *pflag.Flag, typed []string) bool {
	return slices.ContainsFunc(flag.Annotations[givesWayTo],
		func(name string) bool { return slices.Contains(typed, name) })
}
