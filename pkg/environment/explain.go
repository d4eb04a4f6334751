package environment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// chartFailure finds the codes that the chart's own checks put before each of their messages in Helm's error. A line
// with the hint may follow a message.
var chartFailure = regexp.MustCompile(`(?m)(?:^|: )((?:component|values)/[a-z]+): `)

// valuePath finds the path of a value in a message of the chart.
var valuePath = regexp.MustCompile(
	`\b(?:cluster|components|flux|git_auth_default|git_repo_templates|proxies|registry_secret|source)(?:\.[A-Za-z0-9_-]+)+`)

// explain turns an error of Helm into faults with useful messages, one for each mistake. It omits consequences of an
// unknown value.
func (e *Environment) explain(phase Phase, err error) []error {
	text := err.Error()
	if found := chartFailure.FindAllStringSubmatchIndex(text, -1); found != nil {
		return e.chartProblems(text, found)
	}
	return []error{fault.New(fault.ValuesInvalid, fmt.Sprintf("render chart %s in phase %s: %s", ReleaseName, phase,
		text), valuesHint)}
}

const valuesHint = "Read charts/telco-cloud-init/values.yaml for the meaning of each value."

func (e *Environment) chartProblems(text string, found [][]int) []error {
	var problems []error
	for i, match := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		message, hint, _ := strings.Cut(strings.TrimSpace(text[match[1]:end]), "\nhint: ")
		paths := valuePath.FindAllString(message, -1)
		if slices.ContainsFunc(paths, e.isUnknown) || strings.Contains(message, unknownValue) {
			continue
		}
		code := fault.ValuesInvalid
		switch text[match[2]:match[3]] {
		case "component/unknown":
			code, hint = fault.ComponentUnknown, "Correct the name, or add the component under `components`."
		case "component/disabled":
			code, hint = fault.ComponentUnknown, "Enable both in the same phase, or remove the one from the other's "+
				"dependsOn"
		case "component/cycle":
			code, hint = fault.ComponentCycle, "Remove one of them from another's dependsOn."
		}
		problems = append(problems, fault.New(code, e.whence(paths...)+message, hint))
	}
	return problems
}

// isUnknown reports whether the value at a dotted path is unknown because a variable in it could not be filled in.
func (e *Environment) isUnknown(path string) bool {
	value, _ := at(e.settled[e.lasting()], path)
	text, _ := value.(string)
	return strings.Contains(text, unknownValue)
}

// checkNames refuses a component that the chart does not know and that has no path, repo or chart: its name is probably
// misspelt, and Flux would only report a missing folder.
func (e *Environment) checkNames() error {
	var problems []error
	known, _ := e.chart.Defaults()["components"].(map[string]any)
	components, _ := e.effective.merged()["components"].(map[string]any)
	for _, name := range sortedKeys(components) {
		component, isMap := components[name].(map[string]any)
		if _, there := known[name]; there || !isMap {
			continue
		}
		if component["path"] == nil && component["repo"] == nil && component["chart"] == nil {
			problems = append(problems, fault.New(fault.ComponentUnknown, e.whence("components."+name)+
				fmt.Sprintf("there is no component %q", name),
				suggest.Hint(name, sortedKeys(known), "components.")+
					fmt.Sprintf("components: %s; one of your own needs `path`, `repo` or `chart`",
						strings.Join(sortedKeys(known), ", "))))
		}
	}
	return fault.Join(problems...)
}

func sortedKeys[V any](values map[string]V) []string {
	return slices.Sorted(maps.Keys(values))
}
