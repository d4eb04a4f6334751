package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/unpack"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// inputsFile is the file in a cluster's state folder with the flags of up.
const inputsFile = "inputs.json"

// lastInputs holds the flags of runs of up, without secrets.
type lastInputs struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Environment   string              `json:"environment"` // as an absolute path, where it is a folder
	Flags         map[string][]string `json:"flags"`       // of the last run that changed something
	// Completed are the flags of the last run that built the cluster. Nil if there is none.
	Completed map[string][]string `json:"completed,omitempty"`
}

// flagsFor returns the flags for a command. up and check do not reuse flags of a failed run: they may be the cause.
func (l *lastInputs) flagsFor(command string) map[string][]string {
	if command == "up" || command == "check" {
		return l.Completed
	}
	return l.Flags
}

// recalled returns the flags that define a cluster. A later command reuses those that are not given. The flags of a
// group belong together.
func recalled() [][]string {
	return [][]string{
		{"set"}, {"values"}, {"bundle"}, {"registry-mirror"}, {"bootstrap-kubeconfig"}, {"engine-address"},
		{"node-image"}, {"registry-binary"},
		{
			"source", "source-url", "source-branch", "source-commit", "source-tag", "source-semver",
			"source-ssh-key", "source-known-hosts", "source-ca-file", "source-insecure",
			"source-content-tag", "source-chart-tag", "source-content-digest", "source-chart-digest",
			componentsFlag,
		},
	}
}

// holdsPaths returns the recalled flags whose values are paths.
func holdsPaths() []string {
	return []string{
		"values", "bundle", "bootstrap-kubeconfig", "registry-binary", "source-ssh-key", "source-known-hosts",
		"source-ca-file", componentsFlag,
	}
}

// recallsInputs marks commands that reuse flags of up.
const recallsInputs = "cluster-init/recalls-inputs"

// aboutBuilt marks a command as one that reuses flags of up.
func aboutBuilt(c *cobra.Command) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[recallsInputs] = "true"
	return c
}

// recall sets flags that were not given to the values of up, and returns them for people. The cluster is determined
// before that, so recalled flags cannot lead a command to another cluster.
func recall(c *cobra.Command, args []string) ([]string, error) {
	if c.Annotations[recallsInputs] == "" {
		return nil, nil
	}
	name := ""
	if len(args) == 1 {
		name = args[0]
	} else if usual, err := defaultEnvironment(); err == nil && len(args) == 0 {
		name = usual
	}
	given := environmentOptions{sets: listOf(c, "set"), valueFiles: listOf(c, "values"),
		stdin: func() ([]byte, error) { return nil, nil }, appliesNothing: true}
	if name == "" || slices.Contains(given.valueFiles, "-") { // stdin can be read only once
		return nil, nil
	}
	env, err := given.loadNames(c.Context(), name)
	if err != nil {
		return nil, nil // the command itself reports it
	}
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return nil, nil
	}
	if _, err := os.Stat(state); err != nil {
		return nil, nil // no run was kept, or the command itself reports a problem with the folder
	}
	last, err := readInputs(filepath.Join(state, inputsFile))
	if err != nil || last == nil || last.Environment != environmentKey(name) {
		return nil, err
	}
	said, err := takeInputs(c, last, given.sets, filepath.Join(state, inputsFile))
	if err != nil || len(said) == 0 {
		return said, err
	}
	given.sets, given.valueFiles = listOf(c, "set"), listOf(c, "values") // a values file may have changed since
	other, err := given.loadNames(c.Context(), name)
	if err == nil && (other.ClusterName() != env.ClusterName() || other.ClusterNamespace() != env.ClusterNamespace()) {
		return nil, fault.New(fault.Usage,
			fmt.Sprintf("the flags that %s was built with now name another cluster, %s/%s", env.ClusterName(),
				other.ClusterNamespace(), other.ClusterName()),
			"Give --values and --set explicitly.")
	}
	return said, nil // the command itself reports other errors
}

// takeInputs sets flags that were not given, and returns them for people.
func takeInputs(c *cobra.Command, last *lastInputs, sets []string, path string) ([]string, error) {
	var said []string
	for _, group := range recalled() {
		if group[0] != "set" && slices.ContainsFunc(group, func(flag string) bool { return isGiven(c, flag) }) {
			continue
		}
		for _, flag := range group {
			values := last.flagsFor(c.Name())[flag]
			if flag == "set" {
				values = slices.DeleteFunc(slices.Clone(values), func(set string) bool { return setsOneOf(sets, set) })
			}
			if len(values) == 0 || c.Flags().Lookup(flag) == nil || isIdle(c, flag) {
				continue
			}
			if err := giveValues(c.Flags().Lookup(flag), values); err != nil {
				return nil, fault.Wrap(fmt.Errorf("take --%s from %s: %w", flag, path, err), fault.Usage,
					"Give --"+flag+".")
			}
			for _, value := range values {
				said = append(said, "--"+flag+" "+oneline.Shell(value))
			}
		}
	}
	return said, nil
}

// isIdle reports whether a flag conflicts with a given one.
func isIdle(c *cobra.Command, flag string) bool {
	return slices.Contains([]string{"node-image", "registry-binary"}, flag) && isGiven(c, "bootstrap-kubeconfig")
}

func isGiven(c *cobra.Command, flag string) bool {
	f := c.Flags().Lookup(flag)
	return f != nil && f.Changed
}

func listOf(c *cobra.Command, flag string) []string {
	if f := c.Flags().Lookup(flag); f != nil {
		if list, is := f.Value.(pflag.SliceValue); is {
			return list.GetSlice()
		}
	}
	return nil
}

// giveValues puts values before those that a flag has: the last one wins.
func giveValues(f *pflag.Flag, values []string) error {
	list, repeatable := f.Value.(pflag.SliceValue)
	if !repeatable {
		return f.Value.Set(values[len(values)-1])
	}
	return list.Replace(append(slices.Clone(values), list.GetSlice()...))
}

// setsOneOf reports whether one of the given KEY=VALUE has the same key as set.
func setsOneOf(given []string, set string) bool {
	key, _, _ := strings.Cut(set, "=")
	return slices.ContainsFunc(given, func(other string) bool { return strings.HasPrefix(other, key+"=") })
}

// readInputs reads the file. Nil means that there is none.
func readInputs(path string) (*lastInputs, error) {
	const most = 1 << 20
	text, err := unpack.File(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	last := &lastInputs{}
	if err == nil {
		err = json.Unmarshal(text, last)
	}
	if err == nil && last.SchemaVersion != 1 {
		err = fmt.Errorf("schema version %d is not known", last.SchemaVersion)
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the flags of the last up, %s: %w", path, err), fault.Usage,
			"Remove the file, and give the flags that up had.")
	}
	return last, nil
}

// remember writes the flags of up for later commands, without secrets: those are in the cluster. completed reports that
// the run has built the cluster.
func remember(f *pflag.FlagSet, name, state string, completed bool) error {
	path := filepath.Join(state, inputsFile)
	last := lastInputs{SchemaVersion: 1, Environment: environmentKey(name), Flags: map[string][]string{}}
	if before, err := readInputs(path); err == nil && before != nil && before.Environment == last.Environment {
		last.Completed = before.Completed
	}
	for _, group := range recalled() {
		for _, flag := range group {
			given := f.Lookup(flag)
			if given == nil || given.Value.String() == given.DefValue {
				continue
			}
			values := []string{given.Value.String()}
			if list, repeatable := given.Value.(pflag.SliceValue); repeatable {
				values = list.GetSlice()
			}
			if values = storable(flag, values); len(values) > 0 {
				last.Flags[flag] = values
			}
		}
	}
	if completed {
		last.Completed = last.Flags
	}
	text, err := json.MarshalIndent(last, "", "  ")
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = wholefile.Write(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the flags of up, %s: %w", path, err)
	}
	return nil
}

// storable returns the values of a flag that later commands may reuse, with absolute paths. It leaves out secrets, what
// selects the cluster, and --set with several settings.
func storable(flag string, values []string) []string {
	var kept []string
	for _, value := range values {
		switch {
		case flag == "set":
			key, _, _ := strings.Cut(value, "=")
			if environment.Secret(key) || key == "cluster.name" || key == "cluster.namespace" ||
				strings.Contains(value, ",") {
				continue
			}
		case flag == "values" && value == "-":
			return nil // stdin is gone, and the other files alone give other values
		case value != "" && slices.Contains(holdsPaths(), flag):
			absolute, err := filepath.Abs(value)
			if err != nil {
				continue
			}
			value = absolute
		}
		kept = append(kept, value)
	}
	return kept
}

// environmentKey returns a name of an environment that does not depend on the working directory.
func environmentKey(name string) string {
	if folder := ownFolder(name); folder != nil {
		for _, path := range folder {
			return path
		}
	}
	return name
}
