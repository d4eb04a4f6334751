package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// newShow returns the parent of the commands that show parts of an environment.
func newShow(streams Streams) *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "Show the parts of an environment",
		Example: "  cluster-init show values kubeadm-capd", Args: cobra.ArbitraryArgs, RunE: onlyCommands}
	c.AddCommand(newShowValues(streams))
	return c
}

// showValuesOptions are the flags of `show values`.
type showValuesOptions struct {
	environmentOptions
	format, phase string
	origins       bool
	streams       Streams
}

func newShowValues(streams Streams) *cobra.Command {
	o := &showValuesOptions{streams: streams}
	c := &cobra.Command{
		Use:   "values ENVIRONMENT",
		Short: "Show all values that the chart works with, with its defaults",
		Long: `show values prints the values that the chart works with. It merges the chart's defaults, the files
of the environment, the files of --values, and --set, in this order. With --show-origin it lists
each value with the file or flag that it comes from. Values of Secrets are masked.`,
		Example: `  cluster-init show values kubeadm-capd
  cluster-init show values ./my-environment --show-origin
  cluster-init show values kubeadm-capo -o json | jq .values.cluster.openstack`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	choose(f, &o.format, "output", "o", "plain or yaml: the values as YAML; json: one document",
		"plain", "yaml", "json")
	choose(f, &o.phase, "phase", "", "the cluster that it is for: management or bootstrap", "management", "bootstrap")
	f.BoolVar(&o.origins, "show-origin", false, "print a line for each value, with the file or flag that it comes from")
	return c
}

func (o *showValuesOptions) run(ctx context.Context, name string) error {
	formats := map[string]func(shownValues) error{
		"plain": func(v shownValues) error { return v.Print(o.streams.Out) },
		"json":  func(v shownValues) error { return oneline.WriteJSON(o.streams.Out, v, "") },
		"yaml": func(v shownValues) error {
			if v.Origins != nil { // lines are no YAML
				return encodeYAML(o.streams.Out, v)
			}
			return v.Print(o.streams.Out)
		},
	}
	show := formats[o.format]
	if show == nil {
		return fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format), "Use plain, yaml or json.")
	}
	phase := environment.Phase(o.phase)
	if phase != environment.Management && phase != environment.Bootstrap {
		return fault.New(fault.Usage, "--phase "+o.phase+" is not known", "Use management or bootstrap.")
	}
	env, err := o.load(ctx, name, nil)
	if err != nil {
		return err
	}
	values := manifests.MaskValues(env.Values(phase), env.SecretDocuments(), knownSecrets(env))
	shown := shownValues{Type: "values", SchemaVersion: 1, Environment: name, Values: values}
	if o.origins {
		shown.Origins = env.Origins(phase)
		for i, origin := range shown.Origins {
			shown.Origins[i].Value = origin.In(values)
		}
	}
	if err := show(shown); err != nil {
		return fmt.Errorf("print the values: %w", err)
	}
	return nil
}

// shownValues is the output of `show values`.
type shownValues struct {
	Type          string               `json:"type"` // "values"
	SchemaVersion int                  `json:"schemaVersion"`
	Environment   string               `json:"environment"`
	Values        map[string]any       `json:"values"`
	Origins       []environment.Origin `json:"origins,omitempty"`
}

// Print writes the values as YAML, or a line for each value where there are origins.
func (s shownValues) Print(out io.Writer) error {
	if s.Origins != nil {
		return printOrigins(out, s.Origins)
	}
	text, err := yaml.Marshal(s.Values)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}
