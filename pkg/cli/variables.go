package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// consents returns the flags by which a user agrees to something that cannot be undone. Their environment variables are
// refused, because one may be left over from another run.
func consents() []string {
	return []string{"yes", "force", "allow-admin", "allow-changes", "with-workload-clusters", "new"}
}

// variablePrefix returns the prefix of a command's environment variables: CLUSTER_INIT_UP_ for cluster-init up.
func variablePrefix(c *cobra.Command) string { return variableName(c.CommandPath()) + "_" }

func variableName(text string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(text))
}

// setFromVariables sets flags that were not given from environment variables. It returns a warning for each variable
// that matches no flag. A flag on the command line wins, also over a conflicting variable. An empty variable does not
// count.
func setFromVariables(c *cobra.Command, environ []string) (strays []string, err error) {
	prefix, flags, given := variablePrefix(c), flagsByVariable(c), typed(c)
	elsewhere := ofAncestors(c)
	var problems []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if flag := elsewhere[name]; flag != nil && value != "" {
			problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("%s is set, and no command reads it", name),
				fmt.Sprintf("Unset it, and set %s, or give --%s.", variablePrefix(c)+variableName(flag.Name),
					flag.Name)))
			continue
		}
		if !strings.HasPrefix(name, prefix) || value == "" {
			continue
		}
		flag := flags[name]
		switch {
		case flag == nil && isOfAnother(c.Root(), name): // CLUSTER_INIT_RUNS_LIST_OUTPUT is not for runs
		case flag == nil:
			strays = append(strays, strayVariable(name, c, flags))
		case slices.Contains(consents(), flag.Name):
			problems = append(problems, fault.New(fault.Usage,
				fmt.Sprintf("%s is set, but --%s is accepted on the command line only", name, flag.Name),
				"Unset it, and give --"+flag.Name+" to the run that you mean."))
		case !flag.Changed && !isOverridden(flag, given):
			problems = append(problems, setFlag(c, flag, name, value))
		}
	}
	return strays, fault.Join(problems...)
}

func flagsByVariable(c *cobra.Command) map[string]*pflag.Flag {
	all := map[string]*pflag.Flag{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			all[variablePrefix(c)+variableName(f.Name)] = f
		}
	})
	return all
}

// ofAncestors returns variables that look as if they counted for all commands, such as CLUSTER_INIT_OUTPUT, with the
// flags of c that they mean. Ignoring them silently would surprise the user.
func ofAncestors(c *cobra.Command) map[string]*pflag.Flag {
	all := map[string]*pflag.Flag{}
	for above := c.Parent(); above != nil; above = above.Parent() {
		own := flagsByVariable(above)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if name := variablePrefix(above) + variableName(f.Name); own[name] == nil && f.Name != "help" &&
				f.Name != "version" {
				all[name] = f
			}
		})
	}
	return all
}

// isOfAnother reports whether a variable belongs to a flag of c or of a command below it.
func isOfAnother(c *cobra.Command, variable string) bool {
	return flagsByVariable(c)[variable] != nil ||
		slices.ContainsFunc(c.Commands(), func(below *cobra.Command) bool { return isOfAnother(below, variable) })
}

// setFlag sets a flag as the command line does. A repeatable flag takes one value per line.
func setFlag(c *cobra.Command, flag *pflag.Flag, variable, value string) error {
	values := []string{value}
	if _, repeatable := flag.Value.(pflag.SliceValue); repeatable {
		values = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	}
	for _, each := range values {
		if err := c.Flags().Set(flag.Name, each); err != nil {
			// not err: it quotes the value, and --set may hold a secret
			return fault.New(fault.Usage, fmt.Sprintf("%s cannot be the value of --%s, which is of type %s", variable,
				flag.Name, flag.Value.Type()), "See "+c.CommandPath()+" --help.")
		}
	}
	return nil
}

func strayVariable(name string, c *cobra.Command, flags map[string]*pflag.Flag) string {
	text := fmt.Sprintf("%s is set, and %s has no such flag", name, c.CommandPath())
	if near := suggest.Near(name, slices.Sorted(maps.Keys(flags))); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return text
}

// formerFlags maps flags of earlier versions to the flags that replace them.
func formerFlags() map[string][]string {
	return map[string][]string{
		"to": {"output-dir", "output-file"}, "artifacts": {"output-dir"}, "backup-recipient": {"recipient"},
		"backup-sign": {"sign-key"}, "origins": {"show-origin"}, "give-up-after": {"stall-timeout"},
	}
}

// flagProblem gives the error of a flag its code, and a hint with similar flags.
func flagProblem(c *cobra.Command, err error) error {
	hint := "See " + c.CommandPath() + " --help."
	if typed, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		for _, name := range formerFlags()[typed] {
			if c.Flags().Lookup(name) != nil {
				return fault.Wrap(err, fault.Usage, "--"+typed+" is now --"+name+".")
			}
		}
		hint = suggest.Hint(typed, known, "--") + hint
	}
	return fault.Wrap(err, fault.Usage, hint)
}
