// Package environment turns environment-values/ENV, a kustomization, into an immutable and validated Environment:
// the values of the telco-cloud-init chart, the objects that carry them, and what the chart makes of them.
// Everything that can be wrong with an environment is found here, before anything is created.
package environment

import (
	"context"
	"io/fs"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
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
	ValuesFiles []string
	// Sets are values in the syntax of `helm --set`, over everything else.
	Sets []string
}

// Environment is the validated input of a run. It never changes; WithOverrides makes another one.
type Environment struct {
	name      string
	namesOnly bool
	chart     *chart.Chart
	bootstrap []byte // bootstrap.values.yaml as it is in the chart
	documents documents
	overrides map[string]any // what cluster-init decides
	user      map[string]any // values files and --set
	effective documents      // all of the above, in the three objects
}

// Load reads, substitutes, merges and validates an environment. Its errors are faults of these codes:
// EnvironmentUnknown, EnvironmentInvalid, VariableMissing, ValuesInvalid, ComponentUnknown and ComponentCycle, and what
// Options.Derive fails with.
func Load(ctx context.Context, options Options) (*Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	loaded, bootstrapValues, err := loadChart(options.Content)
	if err != nil {
		return nil, err
	}
	s := newSubstituter(ctx, options)
	name, docs, err := build(options, s)
	if err != nil {
		return nil, err
	}
	env := &Environment{name: name, namesOnly: options.NamesOnly, chart: loaded, bootstrap: bootstrapValues, documents: docs}
	env.user, err = env.userValues(options, s)
	if err != nil {
		return nil, err
	}
	return env.finish()
}

// WithOverrides returns a copy with what cluster-init itself decides (registry mirrors, the bundle's values, the
// node image). Overrides win over the environment's files and over earlier overrides, but not over the user's
// --set and values files. The copy is validated like a loaded environment.
func (e *Environment) WithOverrides(overrides map[string]any) (*Environment, error) {
	merged := *e
	merged.overrides = merge(e.overrides, overrides)
	return merged.finish()
}

// finish computes the effective values and validates them in both phases.
func (e *Environment) finish() (*Environment, error) {
	e.effective = e.documents.with(e.overrides).with(e.user)
	if err := e.checkNames(); err != nil {
		return nil, err
	}
	if e.namesOnly {
		if err := chartutil.ValidateAgainstSchema(e.chart, e.Values(Management)); err != nil {
			return nil, e.explain(Management, err)
		}
		return e, nil
	}
	for _, phase := range []Phase{Bootstrap, Management} {
		if _, err := e.Render(phase, nil); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Name is the environment's name, for a folder of the user's own that of the folder.
func (e *Environment) Name() string { return e.name }
