// Package environment turns environment-values/ENV, a kustomization, into an immutable and validated Environment:
// the values of the telco-cloud-init chart, the objects that carry them, and what the chart makes of them.
// Everything that can be wrong with an environment is found here, before anything is created.
package environment

import (
	"context"
	"io/fs"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Phase says in which cluster the chart is installed; it is the chart's value `phase`.
type Phase string

// The two clusters of `up`.
const (
	Bootstrap  Phase = "bootstrap"
	Management Phase = "management"
)

// Options says what to load. Name and Content are required.
type Options struct {
	// Name of an environment in Content, or a path to the user's own folder: all that holds a path separator, or
	// starts with a dot, is a path.
	Name string
	// Content holds the folders charts and environment-values, see the root package.
	Content fs.FS
	// Variables looks up what ${NAME} stands for; os.LookupEnv fits. Nil knows no variable.
	Variables func(name string) (string, bool)
	// Derive finds out what a variable stands for that Variables does not know, or only as empty: credentials, for
	// example, that other tools keep elsewhere. It is asked only for variables that the files use. Nil derives none.
	Derive func(ctx context.Context, name string) (value string, found bool, err error)
	// NamesOnly is for commands that only want to know what an environment's things are called: variables that are not
	// set are empty, and values are held against the schema, but nothing is made of them.
	NamesOnly bool
	// ValuesFiles are further YAML files of values, over the environment's, the last one wins.
	// "-" is what Input returns.
	ValuesFiles []string
	// Input is the content of the values file "-". Nil means there is none.
	Input func() ([]byte, error)
	// Sets are values in the syntax of `helm --set`, over everything else.
	Sets []string
	// Secrets, if any, is given the values of the two Secrets as soon as they are known. They may be wrong themselves,
	// and errors may quote them.
	Secrets func(documents ...map[string]any)
	// Check, if any, is asked for more that is wrong as soon as the values could be read, so that it is reported with
	// the rest. They may be wrong themselves: what is not known, or of another type, is empty.
	Check func(*Environment) error
	// Ranges, if any, returns the ranges of addresses that the provider of the machines uses: they must not overlap
	// those of pods and services. The values may be wrong, as for Check.
	Ranges func(*Environment) []Range

	// root is a folder, after symbolic links: only secrets of folders below it are used. Empty: the one that holds
	// Name.
	root string
}

// Environment is the validated input of a run. It never changes; WithOverrides makes another one.
type Environment struct {
	name      string
	argument  string // see Argument
	builtOn   string // see BuiltOn
	title     string // the environment as the user knows it
	namesOnly bool
	ranges    func(*Environment) []Range
	chart     *chart.Chart
	bootstrap []byte // bootstrap.values.yaml as it is in the chart
	documents documents
	overrides map[string]any           // what cluster-init decides
	user      map[string]any           // values files and --set
	effective documents                // all of the above, in the three objects
	stored    documents                // the same without a login that nothing needs: what a cluster gets
	settled   map[Phase]map[string]any // the same as the chart works with it, its defaults included
	spec      Spec                     // the same for the management cluster, typed
	openstack openStackValues          // and those of OpenStack, with secrets
	noProxy   map[Phase]string         // see NoProxy
	kept      keptValues               // what the cluster keeps, over all else
	git       gitValues                // and those of Git, with secrets

	sourceHosts bool // whether the hosts of the default login are from the source

	// Where values come from, each place after those that it wins over.
	files, valuesFiles []layer
	sets               map[string]any
	filled             map[string]bool // scalars of files that variables are in: what they hold is not quoted
}

// Load reads, substitutes, merges and validates an environment. All that is wrong is reported at once, see fault.Join.
// The faults are of these codes: EnvironmentUnknown, EnvironmentInvalid, VariableMissing, ValuesInvalid,
// ComponentUnknown and ComponentCycle, and what Options.Derive and Options.Check fail with.
func Load(ctx context.Context, options Options) (*Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	loaded, bootstrapValues, err := loadChart(options.Content)
	if err != nil {
		return nil, err
	}
	s := newSubstituter(ctx, options)
	name, builtOn, docs, err := build(options, s)
	files := s.layers
	valuesFiles, fileErr := readValuesFiles(options, s)
	if all := fault.Join(s.err(), err, fileErr); all != nil && (docs.values == nil || fileErr != nil) {
		return nil, all // there is nothing to look at
	}
	env := &Environment{name: name, argument: options.Name, builtOn: builtOn, title: title(options.Name),
		namesOnly: options.NamesOnly, ranges: options.Ranges, chart: loaded, bootstrap: bootstrapValues,
		documents: docs,
		files:     files, valuesFiles: valuesFiles, filled: s.filled}
	setsErr := env.userValues(options.Sets)
	env.resettle()
	if options.Secrets != nil {
		options.Secrets(env.SecretDocuments()...)
	}
	if err := env.checkTemplates(); err != nil {
		return nil, err // a template runs with all that follows
	}
	err = fault.Join(s.counting(env.effective.merged()), setsErr, s.lackSecrets(options.Name, files, env.user))
	if err == nil {
		env.forgetUnknown()
	}
	err = fault.Join(err, env.accept())
	if options.Check != nil {
		err = fault.Join(err, options.Check(env))
	}
	if err != nil {
		return nil, err
	}
	return env, nil
}

// WithOverrides returns a copy with what cluster-init itself decides (registry mirrors, the bundle's values, the
// node image). Overrides win over the environment's files and over earlier overrides, but not over the user's
// --set and values files. The copy is validated like a loaded environment.
func (e *Environment) WithOverrides(overrides map[string]any) (*Environment, error) {
	merged := *e
	merged.overrides = merge(e.overrides, overrides)
	merged.resettle()
	if err := merged.accept(); err != nil {
		return nil, err
	}
	return &merged, nil
}

// Name is the environment's name, for a folder of the user's own that of the folder.
func (e *Environment) Name() string { return e.name }

// BuiltOn is the environment at the bottom, when the one that was loaded, or one that it stands on, names it in its
// FromFile; else its own name.
func (e *Environment) BuiltOn() string { return e.builtOn }
