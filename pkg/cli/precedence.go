package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// givesWayTo is the annotation of a flag that lists those that it does not go together with. Where one of them is
// typed, the variable of the flag does not count: what a machine always gives is not meant then.
const givesWayTo = "cluster-init/gives-way-to"

// anArgument stands there for what is no flag, as ENVIRONMENT.
const anArgument = "ENVIRONMENT"

// overriddenBy has the variables of some flags give way to what is typed.
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

// typed are the flags of the command line, before any variable was read, and whether there is an argument. One that is
// switched off asks for nothing.
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

// isOverridden says whether a flag gives way to one of those that were typed.
func isOverridden(flag *pflag.Flag, typed []string) bool {
	return slices.ContainsFunc(flag.Annotations[givesWayTo],
		func(name string) bool { return slices.Contains(typed, name) })
}
