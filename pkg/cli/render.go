package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// renderOptions are the flags of `render`.
type renderOptions struct {
	environmentOptions
	content                      contentOptions
	phase, format, graph, bundle string
	streams                      Streams
}

func newRender(streams Streams) *cobra.Command {
	o := &renderOptions{streams: streams}
	c := &cobra.Command{
		Use:   "render ENVIRONMENT",
		Short: "Show the values, the chart's objects and the manifests of every component",
		Long: `render prints what up would apply: the values of an environment, the objects of the chart, and what
Flux would apply for each component. It contacts no cluster and changes nothing. It downloads and
verifies release files as up does, or takes them from a bundle.

Secrets are masked: render prints only their keys.`,
		Example: `  cluster-init render kubeadm-capd
  cluster-init render kubeadm-capd --graph mermaid
  cluster-init render kubeadm-capo --phase bootstrap -o json | jq -r '.components[] | "\(.name): \(.objects | length)"'`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.content.flags(f)
	choose(f, &o.phase, "phase", "", "the cluster that it is for: management or bootstrap", "management", "bootstrap")
	choose(f, &o.format, "output", "o", "plain or yaml: a stream of YAML documents; json: one document", "plain",
		"yaml", "json")
	f.StringVar(&o.graph, "graph", "", "draw the dependencies of the components instead: text, mermaid or dot")
	f.Lookup("graph").Annotations = map[string][]string{choices: {"text", "mermaid", "dot"}}
	f.StringVar(&o.bundle, "bundle", "",
		"folder of an offline bundle: use its values and its release files")
	overriddenBy(f, []string{"graph"}, "output")
	overriddenBy(f, []string{"output"}, "graph")
	return c
}

// known returns what is wrong with the flags.
func (o *renderOptions) known() error {
	var problems []error
	if o.format != "plain" && o.format != "yaml" && o.format != "json" {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format),
			"Use plain, yaml or json."))
	}
	if phase := environment.Phase(o.phase); phase != environment.Management && phase != environment.Bootstrap {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("--phase %q is not known", o.phase),
			"Use management or bootstrap."))
	}
	if o.graph != "" && manifests.Graphs()[o.graph] == nil {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("--graph %q is not known", o.graph),
			"Use text, mermaid or dot."))
	}
	if o.graph != "" && o.format != "plain" {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("--graph %s and --output %s do not go together",
			o.graph, o.format), "A graph has a form of its own: leave one of them out."))
	}
	return fault.Join(problems...)
}

func (o *renderOptions) run(ctx context.Context, name string) error {
	if err := o.known(); err != nil {
		return err
	}
	var err error
	if o.fsys, err = o.content.of(); err != nil {
		return err
	}
	env, err := o.load(ctx, name, nil)
	if err != nil {
		return err
	}
	opened, err := openBundle(o.bundle, env.BuiltOn())
	if err != nil {
		return err
	}
	env, options, err := o.content.publishOptions(env, o.fsys, opened)
	if err != nil {
		return err
	}
	if env, err = withProgramsBeside(env); err != nil {
		return err
	}
	var tree content.Tree // a graph needs no manifests
	if o.graph == "" {
		if tree, err = options.Tree(ctx); err != nil {
			return err
		}
	}
	if env.LacksAddress() {
		oneline.Fprintf(o.streams.Err,
			"left out: the floating IP of the API server (apiServerFloatingIP), which up makes\n")
	}
	rendered, err := manifests.Render(ctx, env, environment.Phase(o.phase), nil, tree)
	if err != nil {
		return err
	}
	return o.show(rendered.Masked(knownSecrets(env)))
}

func (o *renderOptions) show(r manifests.Rendered) error {
	var err error
	switch {
	case o.graph != "":
		_, err = io.WriteString(o.streams.Out, manifests.Graphs()[o.graph](r))
	case o.format == "json":
		err = oneline.WriteJSON(o.streams.Out, r, "")
	default:
		err = r.Print(o.streams.Out)
	}
	if err != nil {
		return fmt.Errorf("print the manifests: %w", err)
	}
	return nil
}

// knownSecrets returns a Redactor for the secrets in this process's environment variables and in env, which may be nil.
func knownSecrets(env *environment.Environment) *redact.Redactor {
	known := redact.New(redact.FromEnvironment(os.Environ())...)
	if env != nil {
		for _, document := range env.SecretDocuments() {
			known.Add(redact.FromValues(document)...)
		}
	}
	return known
}
