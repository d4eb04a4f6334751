package environment

import (
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// userValues returns what the values files and --set ask for, and nothing else: only what they name.
func (e *Environment) userValues(options Options, s *substituter) (map[string]any, error) {
	user := map[string]any{}
	for _, file := range options.ValuesFiles {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("read values: %w", err), fault.EnvironmentInvalid, "check the path")
		}
		content, err = s.process(valuesPath(file), content)
		if err != nil {
			return nil, err
		}
		values, err := chartutil.ReadValues(content)
		if err != nil {
			return nil, fault.Wrap(fmt.Errorf("%s: %w", file, err), fault.EnvironmentInvalid, "a values file is a YAML map")
		}
		user = merge(user, values)
	}
	// Helm applies --set to the merged values, so that list[0].key changes one entry of a list that is there. Of the
	// result only what was named is kept.
	named := map[string]any{}
	full := e.Values(Management)
	full = merge(merge(full, e.documents.merged()), user)
	for _, set := range options.Sets {
		for _, target := range []map[string]any{named, full} {
			if err := strvals.ParseInto(set, target); err != nil {
				return nil, fault.Wrap(fmt.Errorf("--set %s: %w", set, err), fault.ValuesInvalid, "write it as in Helm: key.key=value")
			}
		}
	}
	return merge(user, pick(full, named)), nil
}

// valuesPath makes a values file count as YAML whatever its name is.
func valuesPath(file string) string {
	if isYAML(file) {
		return file
	}
	return file + " (YAML).yaml"
}

// pick returns from full the values at the places that shape names.
func pick(full, shape map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range shape {
		shapeMap, isMap := value.(map[string]any)
		fullMap, fullIsMap := full[key].(map[string]any)
		if isMap && fullIsMap {
			out[key] = pick(fullMap, shapeMap)
			continue
		}
		out[key] = copyValue(full[key])
	}
	return out
}
