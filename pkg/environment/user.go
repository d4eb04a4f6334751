package environment

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// readValuesFiles returns the content of the values files, in their order.
func readValuesFiles(options Options, s *substituter) ([]layer, error) {
	var layers []layer
	var problems []error
	for _, file := range options.ValuesFiles {
		content, err := options.read(file)
		if err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("--values: %w", err), fault.EnvironmentInvalid,
				"Set --values to the path of an existing file."))
			continue
		}
		if file == "-" {
			file = "stdin"
		}
		content, err = s.process(origin{path: file}, content)
		if err != nil {
			problems = append(problems, s.err())
			continue
		}
		values, err := readValues(content)
		if err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("%s: %w", file, err), fault.EnvironmentInvalid,
				"Write a YAML map into the values file."))
			continue
		}
		layers = append(layers, layer{name: file, values: values, shell: s.layers[len(s.layers)-1].shell})
	}
	return layers, fault.Join(problems...)
}

// mostOfValues is the maximum size of a values file. A cluster accepts at most 1 MiB of values.
const mostOfValues = 16 << 20

// read returns the content of a values file.
func (o Options) read(file string) ([]byte, error) {
	if file == "-" && o.Input != nil {
		content, err := o.Input()
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		return content, nil
	}
	return unpack.Named(file, mostOfValues)
}

// userValues sets user to the values that the values files and --set name, and sets to those of --set.
func (e *Environment) userValues(sets []string) error {
	e.user, e.sets = map[string]any{}, map[string]any{}
	for _, file := range e.valuesFiles {
		e.user = merge(e.user, file.values)
	}
	// Helm applies --set to the merged values, so that list[0].key changes one entry of an existing list. Only what was
	// named is kept of the result.
	full := merge(merge(e.coalesced(e.lasting()), e.documents.merged()), e.user)
	var problems []error
	for _, set := range sets {
		for _, target := range []map[string]any{e.sets, full} {
			if err := helm.Set(set, target); err != nil {
				problems = append(problems, setProblem(set, err))
				continue
			}
			e.keepText(set, target)
		}
	}
	e.sets = pick(full, e.sets)
	e.user = merge(e.user, e.sets)
	return fault.Join(problems...)
}

// setProblem describes a mistake in a --set without its value: that may be a secret, and Helm's parser quotes it as a
// key if it contains a comma.
func setProblem(set string, err error) error {
	const hint = `Write it as in Helm: key.key=value, with "\\," for a comma in a value.`
	key, value, assigned := strings.Cut(set, "=")
	if !assigned {
		return fault.Wrap(fmt.Errorf("--set %s: %w", key, err), fault.ValuesInvalid, hint)
	}
	message := err.Error()
	for _, part := range strings.Split(value, ",") {
		if part = strings.TrimSpace(part); part != "" && strings.Contains(message, part) {
			message = "the text after a comma in the value is not key=value"
		}
	}
	return fault.New(fault.ValuesInvalid, fmt.Sprintf("--set %s=...: %s", key, message), hint)
}

// pick returns from full the values at the paths in shape.
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
