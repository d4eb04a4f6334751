package environment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Kept is a value stored in the cluster that stays in use although the shell of this run gives another one, or none.
type Kept struct {
	Path      string
	Variables []string // of the shell, or missing there
	Set       bool     // whether the shell has one of them
}

// String is for people.
func (k Kept) String() string {
	names := strings.Join(k.Variables, ", ")
	if !k.Set {
		return fmt.Sprintf("%s: the cluster keeps the value that it was last given; %s is not set here", k.Path, names)
	}
	return fmt.Sprintf("%s: the cluster keeps the value that it was last given, and %s of this shell is not used; "+
		"--allow-changes %s uses it", k.Path, names, k.Path)
}

// ambient are the variables that shells have for other programs. An existing cluster takes nothing from them
// automatically.
func ambient(name string) bool {
	return name == "DOCKER_HOST" || strings.HasSuffix(strings.ToLower(name), "_proxy")
}

// FromShell returns the paths of the values that the shell gives, with their variables, for people.
func (e *Environment) FromShell() []string {
	var from []string
	for _, v := range e.shellValues() {
		if _, kept := below(map[string]any(e.kept), v.keys); len(v.set) > 0 && !kept && e.stores(v) {
			from = append(from, v.path()+" ("+strings.Join(v.set, ", ")+")")
		}
	}
	return from
}

// stores reports whether a cluster gets the value: an unused login is omitted.
func (e *Environment) stores(v shellValue) bool {
	value, _ := below(e.effective.merged(), v.keys)
	stored, _ := below(e.stored.merged(), v.keys)
	return shown(value) == shown(stored)
}

// Keep returns the environment as it is applied to an existing cluster. The objects are what that was last given. Files
// and flags define a cluster: a value from variables stays as it was, unless allowed names its path. Two kinds of
// values are still taken from variables that are not ambient: secrets, and those that replace machines, which Changes
// reports.
func (e *Environment) Keep(given Objects, allowed []string) (*Environment, []Kept, error) {
	kept, list, err := e.keepValues(given, allowed)
	if err == nil { // last: a kept value may be the user's own address
		kept, err = kept.KeepAddress(given)
	}
	if err != nil {
		return nil, nil, err
	}
	return kept, list, nil
}

func (e *Environment) keepValues(given Objects, allowed []string) (*Environment, []Kept, error) {
	last, err := given.documents()
	if err != nil {
		return nil, nil, err
	}
	if last.values == nil {
		return e, nil, nil
	}
	before := last.normalized().merged()
	if e, err = e.keepFingerprintKey(before); err != nil {
		return nil, nil, err
	}
	if e, err = e.keepSourceHosts(given, before); err != nil {
		return nil, nil, err
	}
	now, secret := e.effective.merged(), secretPaths(e.effective)
	recorded := recordedShell(given)
	kept, list := *e, []Kept(nil)
	kept.kept = maps.Clone(e.kept)
	for _, v := range e.shellValues() {
		path := v.path()
		old, there := below(before, v.keys)
		if value, _ := below(now, v.keys); !there || shown(old) == shown(value) || slices.Contains(allowed, path) ||
			namesCluster(path) {
			continue
		}
		switch {
		case !v.resolved && !recorded(path): // the file has another default now
			continue
		case v.resolved && !slices.ContainsFunc(v.names, ambient) && (secret[path] || e.replacesMachines(v, old)):
			continue
		}
		names, set := v.names, len(v.set) > 0
		if set {
			names = v.set
		}
		kept.kept = kept.kept.with(v.keys, old)
		list = append(list, Kept{Path: path, Variables: names, Set: set})
	}
	if len(list) == 0 {
		return e, nil, nil
	}
	kept.resettle()
	if err := kept.accept(); err != nil {
		return nil, nil, fault.Wrap(fmt.Errorf("use the values that the cluster was last given: %w", err),
			fault.ValuesInvalid,
			"Set the value in a file or with --set.")
	}
	return &kept, list, nil
}

// namesCluster reports whether a value identifies the cluster: the run has found the cluster by its own value.
func namesCluster(path string) bool { return path == "cluster.name" || path == "cluster.namespace" }

// replacesMachines reports whether v makes other machine templates than old would in its place, or this is not known.
func (e *Environment) replacesMachines(v shellValue, old any) bool {
	other := *e
	other.kept = maps.Clone(e.kept).with(v.keys, old)
	other.resettle()
	with, err := e.TemplateHashes()
	without, errOther := other.TemplateHashes()
	// an unknown result is refused, and can be allowed
	return err != nil || errOther != nil || !maps.Equal(with, without)
}

// keptValues are values stored in a cluster, as maps below their paths.
type keptValues map[string]any

// with returns the values with one more, at the path of keys.
func (k keptValues) with(keys []string, value any) keptValues {
	nested := map[string]any{keys[len(keys)-1]: copyValue(value)}
	for i := len(keys) - 2; i >= 0; i-- {
		nested = map[string]any{keys[i]: nested}
	}
	return merge(k, nested)
}

// resettle merges the values again from all their places.
func (e *Environment) resettle() {
	e.settle(e.documents.with(e.overrides).with(e.user).replaced(e.kept))
}

// replaced returns the documents with other values, each in the documents that have one at its path.
func (d documents) replaced(by keptValues) documents {
	return documents{values: overlayExisting(d.values, by), secrets: overlayExisting(d.secrets, by),
		infraSecrets: overlayExisting(d.infraSecrets, by)}
}

// shellRecord lists the paths of the values from the shell or the source, of this run or stored in the cluster from an
// earlier one.
func (e *Environment) shellRecord() string {
	paths := []string{}
	if e.sourceHosts {
		paths = append(paths, hostsPath)
	}
	for _, v := range e.shellValues() {
		if _, kept := below(map[string]any(e.kept), v.keys); (kept || v.resolved) && e.stores(v) {
			paths = append(paths, v.path())
		}
	}
	text, _ := json.Marshal(paths) // strings can always be encoded
	return string(text)
}

// recordedShell returns a function that reports whether the shell or the source once gave the value at a path. Without
// a record, as an older version of cluster-init left none, it reports true for all.
func recordedShell(given Objects) func(path string) bool {
	var paths []string
	if given.Values == nil || json.Unmarshal([]byte(given.Values.Annotations[owned.ShellAnnotation]), &paths) != nil {
		return func(string) bool { return true }
	}
	return func(path string) bool { return slices.Contains(paths, path) }
}
