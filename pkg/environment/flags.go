package environment

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// fromFlags are the values that flags gave, now or, if KeepFlags has kept them, once: --set, --values, a bundle and
// mirrors.
func (e *Environment) fromFlags() map[string]any {
	values := copyMap(merge(e.overrides, e.user))
	delete(values, fingerprintKey)
	values = withoutAddress(values)
	if login, is := values["git_auth_default"].(map[string]any); is && e.sourceHosts {
		delete(login, "hosts")
		if len(login) == 0 {
			delete(values, "git_auth_default")
		}
	}
	return values
}

// flagRecord lists the paths of the values that flags gave, each as a list of keys. It contains no value.
func (e *Environment) flagRecord() string {
	text, _ := json.Marshal(leafPaths(nil, e.fromFlags())) // strings can always be encoded
	return string(text)
}

// leafPaths returns the keys that lead to each value that is not a map, sorted.
func leafPaths(above []string, values map[string]any) [][]string {
	paths := [][]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		path := append(slices.Clone(above), key)
		if nested, is := values[key].(map[string]any); is {
			paths = append(paths, leafPaths(path, nested)...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// KeepFlags returns the environment with the values that flags once gave a cluster, if this run has no such flag: a
// command on another machine then needs none. With one such flag, all must be given.
func (e *Environment) KeepFlags(given Objects) (*Environment, error) {
	last, err := given.documents()
	if err != nil {
		return nil, err
	}
	var paths [][]string
	// install sets these values itself: they are not flags of this run.
	none := e.installed && len(e.user) == 0 && shown(e.overrides) == shown(withoutMachines())
	if given.Values == nil || len(e.fromFlags()) > 0 && !none ||
		json.Unmarshal([]byte(given.Values.Annotations[owned.FlagsAnnotation]), &paths) != nil {
		return e, nil
	}
	before, now := last.normalized().merged(), e.effective.merged()
	overrides := keptValues{}
	for _, keys := range paths {
		old, there := below(before, keys)
		if value, _ := below(now, keys); len(keys) == 0 || !there || namesCluster(strings.Join(keys, ".")) ||
			shown(old) == shown(value) {
			continue
		}
		overrides = overrides.with(keys, old)
	}
	if len(overrides) == 0 {
		return e, nil
	}
	return e.WithOverrides(overrides)
}
