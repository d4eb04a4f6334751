// Package environment turns environment-values/ENV, a kustomization, into an immutable and validated Environment: the
// values of the telco-cloud-init chart, the objects that carry them, and what the chart makes of them. It finds every
// mistake in an environment before anything is created.
package environment

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
)

// Phase is the cluster in which the chart is installed. It is the chart's value `phase`.
type Phase string

// The two clusters of `up`, and a workload cluster. The release of the last is in the management cluster.
const (
	Bootstrap  Phase = "bootstrap"
	Management Phase = "management"
	Workload   Phase = "workload"
)

// Options specifies what to load. Name and Content are required.
type Options struct {
	// Name of an environment in Content, or a path to the user's own folder: a name with a path separator, or a leading
	// dot, is a path.
	Name string
	// Content holds the folders charts and environment-values, see the root package.
	Content fs.FS
	// Variables looks up the value of ${NAME}, as os.LookupEnv does. Nil has no variable.
	Variables func(name string) (string, bool)
	// Derive finds the value of a variable that Variables does not have, or has only as empty: for example credentials
	// that other tools keep elsewhere. It is called only for variables that the files use. Nil derives none.
	Derive func(ctx context.Context, name string) (value string, found bool, err error)
	// Workload is for an environment of a workload cluster, in place of a management cluster.
	Workload bool
	// Installed is for a management cluster that exists already: it has no Cluster of its own and no bootstrap cluster.
	Installed bool
	// NamesOnly is for commands that need only the names of an environment: variables that are not set are empty, and
	// values are checked with the schema, but the chart is not rendered.
	NamesOnly bool
	// ValuesFiles are further YAML files of values that override the environment's, the last one wins. "-" is the
	// result of Input.
	ValuesFiles []string
	// Input is the content of the values file "-". Nil means there is none.
	Input func() ([]byte, error)
	// Sets are values in the syntax of `helm --set`, which override everything else.
	Sets []string
	// Secrets, if any, receives the values of the two Secrets as soon as they are known. They may be invalid, and
	// errors may quote them.
	Secrets func(documents ...map[string]any)
	// Check, if any, is called for further checks as soon as the values could be read, so that its errors are reported
	// with the rest. The values may be invalid: what is not known, or of another type, is empty.
	Check func(*Environment) error
	// Ranges, if any, returns the address ranges that the provider of the machines uses: they must not overlap those of
	// pods and services. The values may be invalid, as for Check.
	Ranges func(*Environment) []Range

	// root is a folder, after symbolic links: only secrets of folders below it are used. Empty means the folder that
	// contains Name.
	root string
}

// Environment is the validated input of a run. It never changes. WithOverrides makes another one.
type Environment struct {
	name      string
	argument  string // see Argument
	builtOn   string // see BuiltOn
	title     string // the environment's name for its user
	namesOnly bool
	workload  bool
	installed bool
	ranges    func(*Environment) []Range
	chart     *helm.Chart
	schema    *jsonschema.Schema // of the chart; nil: no values are checked with it
	phased    map[Phase][]byte   // PHASE.values.yaml as it is in the chart
	documents documents
	overrides map[string]any           // what cluster-init decides
	user      map[string]any           // values files and --set
	effective documents                // all of the above, in the three objects
	stored    documents                // the same without an unused login: what a cluster gets
	settled   map[Phase]map[string]any // the same as the chart sees it, including its defaults
	spec      Spec                     // the same for the cluster that lasts, typed
	openstack openStackValues          // and those of OpenStack, with secrets
	aws       awsValues                // and those of AWS, with secrets
	rendered  map[Phase]rendering      // what the chart renders with valid values; nil: not rendered
	noProxy   map[Phase]string         // see NoProxy
	kept      keptValues               // values stored in the cluster, which override all others
	git       gitValues                // and those of Git, with secrets

	addressLeft bool   // see LeaveAddress
	reserved    string // see ManagedAddress
	sourceHosts bool   // whether the hosts of the default login are from the source

	// The places that values come from, each after those that it overrides.
	files, valuesFiles []layer
	sets               map[string]any
	filled             map[string]bool // scalars with filled-in variables: messages do not quote them
}

// Load reads, substitutes, merges and validates an environment. It reports all mistakes at once, see fault.Join. The
// faults have these codes: EnvironmentUnknown, EnvironmentInvalid, VariableMissing, ValuesInvalid, ComponentUnknown and
// ComponentCycle, and those of Options.Derive and Options.Check.
func Load(ctx context.Context, options Options) (*Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	loaded, phased, err := loadChart(options.Content)
	if err != nil {
		return nil, err
	}
	schema, err := compileSchema(loaded.Schema())
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", chartFolder, err)
	}
	s := newSubstituter(ctx, options)
	name, builtOn, docs, err := build(options, s)
	files := s.layers
	valuesFiles, fileErr := readValuesFiles(options, s)
	if all := fault.Join(s.err(), err, fileErr); all != nil && (docs.values == nil || fileErr != nil) {
		return nil, all // there are no values to check
	}
	env := &Environment{name: name, argument: options.Name, builtOn: builtOn, title: title(options.Name),
		namesOnly: options.NamesOnly, workload: options.Workload, installed: options.Installed,
		ranges: options.Ranges, chart: loaded, schema: schema, phased: phased, documents: docs, files: files,
		valuesFiles: valuesFiles, filled: s.filled}
	if options.Installed {
		env.overrides = withoutMachines()
	}
	setsErr := env.userValues(options.Sets)
	env.resettle()
	if options.Secrets != nil {
		options.Secrets(env.SecretDocuments()...)
	}
	if err := env.checkTemplates(); err != nil {
		return nil, err // rendering would run the template
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

// WithOverrides returns a copy with what cluster-init itself decides, such as a bundle's values. Overrides win over the
// environment's files and over earlier overrides, but not over the user's --set and values files, nor over kept values.
// The copy is validated like a loaded environment, without Options.Check.
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

// BuiltOn is the built-in environment that this one is based on, directly or not, by its FromFile. Otherwise it is its
// own name.
func (e *Environment) BuiltOn() string { return e.builtOn }
