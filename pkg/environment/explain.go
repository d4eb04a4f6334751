package environment

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// chartFailure finds the code and the message that the chart's own checks put into Helm's error. A message may end with
// a line of its own for the hint.
var chartFailure = regexp.MustCompile(`(?s)\b((?:component|values)/[a-z]+): (.*)$`)

// extraProperty finds the place of a key that the schema does not know, in the words of Helm's schema validator.
var extraProperty = regexp.MustCompile(`at '([^']*)': additional properties`)

// explain turns an error of Helm into a fault with the words that help.
func (e *Environment) explain(phase Phase, err error) error {
	if found := chartFailure.FindStringSubmatch(err.Error()); found != nil {
		message, hint, _ := strings.Cut(strings.TrimSpace(found[2]), "\nhint: ")
		switch found[1] {
		case "component/unknown":
			return fault.New(fault.ComponentUnknown, message, "correct the name, or add the component under `components`")
		case "component/disabled":
			return fault.New(fault.ComponentUnknown, message, "enable both in the same phase, or take the one out of the other's dependsOn")
		case "component/cycle":
			return fault.New(fault.ComponentCycle, message, "take one of them out of another's dependsOn")
		default:
			return fault.New(fault.ValuesInvalid, message, hint)
		}
	}
	text := err.Error()
	if _, list, ok := strings.Cut(text, ReleaseName+":\n"); ok {
		text = "values do not fit the chart's schema:\n" + strings.TrimSpace(list)
	} else {
		text = fmt.Sprintf("render chart %s in phase %s: %s", ReleaseName, phase, text)
	}
	return fault.New(fault.ValuesInvalid, text, e.schemaHint(text))
}

// schemaHint names the keys that are allowed where the first unknown key is.
func (e *Environment) schemaHint(text string) string {
	hint := "charts/telco-cloud-init/values.yaml says what each value means"
	found := extraProperty.FindStringSubmatch(text)
	if found == nil {
		return hint
	}
	var schema map[string]any
	if json.Unmarshal(e.chart.Schema, &schema) != nil {
		return hint
	}
	for _, key := range strings.Split(strings.Trim(found[1], "/"), "/") {
		if key == "" {
			continue
		}
		properties, _ := schema["properties"].(map[string]any)
		next, known := properties[key].(map[string]any)
		if !known {
			next, _ = schema["additionalProperties"].(map[string]any)
		}
		if next == nil {
			next, _ = schema["items"].(map[string]any)
		}
		schema = next
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 {
		return hint
	}
	return fmt.Sprintf("allowed there: %s", strings.Join(sortedKeys(properties), ", "))
}

// checkNames refuses a component that the chart does not know and that does not say where it comes from: most
// likely its name is misspelt, and Flux would only find out that its folder is missing.
func (e *Environment) checkNames() error {
	known, _ := e.chart.Values["components"].(map[string]any)
	components, _ := e.effective.merged()["components"].(map[string]any)
	for _, name := range sortedKeys(components) {
		component, isMap := components[name].(map[string]any)
		if _, there := known[name]; there || !isMap {
			continue
		}
		if component["path"] == nil && component["repo"] == nil {
			return fault.New(fault.ComponentUnknown, fmt.Sprintf("there is no component %q", name),
				fmt.Sprintf("components: %s; one of your own needs `path` or `repo`", strings.Join(sortedKeys(known), ", ")))
		}
	}
	return nil
}

func sortedKeys[V any](values map[string]V) []string {
	return slices.Sorted(maps.Keys(values))
}
