package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// environmentOptions are the flags of every command that loads an environment.
type environmentOptions struct {
	sets       []string
	valueFiles []string
	stdin      func() ([]byte, error)
	fsys       fs.FS // of the chart, the components and built-in environments; nil: this binary's
	// appliesNothing is set for a command that only reads or deletes: an invalid proxy in the shell does not matter.
	appliesNothing bool
	installed      bool           // see environment.Options.Installed
	known          *secrecy       // learns the secrets of what is loaded
	given          *pflag.FlagSet // all flags of the command
}

// mostOfInput is the maximum size in bytes of the standard input, and of a kubeconfig for restore.
const mostOfInput = 16 << 20

// flags registers the flags. The standard input is read once, and only for --values -.
func (o *environmentOptions) flags(f *pflag.FlagSet, streams Streams) {
	o.stdin = sync.OnceValues(func() ([]byte, error) { return unpack.Bytes(streams.In, mostOfInput) })
	o.known, o.given = streams.known, f
	f.StringArrayVar(&o.sets, "set", nil, "KEY=VALUE: set a value of the chart, like helm --set (repeatable)")
	f.StringArrayVarP(&o.valueFiles, "values", "f", nil,
		"file with values that override the environment's; - reads stdin (repeatable)")
}

// load loads an environment. check, if not nil, reports further problems with it.
func (o *environmentOptions) load(ctx context.Context, name string, check func(*environment.Environment) error) (
	*environment.Environment, error) {
	options := o.options(name)
	options.Derive, options.Check = derive, check
	return environment.Load(ctx, options)
}

// loadToLook loads an environment as far as it is known here. lacks is why only its names are known, and err is a
// problem with these. An unset variable is such a problem: it may be a part of the names. Without it, they could be
// those of another cluster.
func (o *environmentOptions) loadToLook(ctx context.Context, name string) (env *environment.Environment, lacks,
	err error) {
	o.appliesNothing = true
	if env, lacks = o.load(ctx, name, nil); lacks == nil {
		return env, nil, nil
	}
	if environment.LacksVariable(lacks) {
		return nil, nil, lacks
	}
	options := o.options(name)
	options.NamesOnly = true
	options.Derive = func(_ context.Context, name string) (string, bool, error) {
		value, found, err := known.DeriveToClean(os.LookupEnv, name)
		return value, found && err == nil, nil // without credentials the cloud is not checked, which is reported
	}
	if env, err = environment.Load(ctx, options); err != nil {
		return nil, nil, err
	}
	return env, lacks, nil
}

// loadNames loads the names of an environment's resources. If they are in a cloud, it also loads which one. It requires
// no other variable.
func (o *environmentOptions) loadNames(ctx context.Context, name string) (*environment.Environment, error) {
	options := o.options(name)
	options.NamesOnly = true
	options.Derive = func(_ context.Context, name string) (string, bool, error) {
		return known.DeriveToClean(os.LookupEnv, name)
	}
	return environment.Load(ctx, options)
}

// loadNamesOnly is loadNames without the cloud, for a command that works with the cluster alone: it may run where there
// are no credentials of the cloud.
func (o *environmentOptions) loadNamesOnly(ctx context.Context, name string) (*environment.Environment, error) {
	options := o.options(name)
	options.NamesOnly = true
	return environment.Load(ctx, options)
}

func (o *environmentOptions) options(name string) environment.Options {
	content := o.fsys
	if content == nil {
		content = clusterinit.Content()
	}
	variables := os.LookupEnv
	if o.appliesNothing {
		variables = environment.WithValidProxies(os.LookupEnv)
	}
	return environment.Options{
		Name: name, Content: content, Variables: variables, Sets: o.sets, ValuesFiles: o.valueFiles, Input: o.stdin,
		Secrets: o.known.learn, Ranges: known.Ranges, Installed: o.installed,
	}
}

func newEnvironments(streams Streams) *cobra.Command {
	var output outputOptions
	c := &cobra.Command{
		Use:     "environments",
		Short:   "List the built-in environments",
		Example: "  cluster-init environments\n  cluster-init environments -o json | jq -r '.environments[]'",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.known(); err != nil {
				return err
			}
			return output.show(streams, environmentList{Type: "environments", SchemaVersion: 1,
				Environments: environment.List(clusterinit.Content())})
		},
	}
	output.formatFlag(c.Flags(), "plain: one name per line; json: one object")
	return c
}

// environmentList is the output of `environments`.
type environmentList struct {
	Type          string   `json:"type"` // "environments"
	SchemaVersion int      `json:"schemaVersion"`
	Environments  []string `json:"environments"`
}

// Print writes one name per line.
func (l environmentList) Print(out io.Writer) error {
	_, err := io.WriteString(out, strings.Join(append(l.Environments, ""), "\n"))
	return err
}

// flags registers the flags of a command that reports on a run.
func (o *outputOptions) flags(f *pflag.FlagSet) {
	o.viewFlags(f)
	o.companions.flags(f)
}

// viewFlags registers the flags for how a run is shown.
func (o *outputOptions) viewFlags(f *pflag.FlagSet) {
	o.formatFlag(f, "plain: for people, on stderr, with live progress on a terminal; json: one event per line, "+
		"on stdout")
	f.BoolVarP(&o.verbose, "verbose", "v", false,
		"also show the output of kind and clusterctl, and all messages of objects")
}

// formatFlag registers only --output, for a command that prints one result.
func (o *outputOptions) formatFlag(f *pflag.FlagSet, usage string) {
	choose(f, &o.format, "output", "o", usage, "plain", "json")
}
