package environment

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// violation is what the schema has against one value.
type violation struct{ pointer, message string }

// violationLine is a line of Helm's schema validator: how far it is indented, where the value is, what is wrong.
var violationLine = regexp.MustCompile(`^( *)- at '([^']*)': (.*)$`)

// extraProperty finds the first key that the schema does not know.
var extraProperty = regexp.MustCompile(`^additional propert[a-z]+ '([^']*)'`)

// checkSchema holds the values against the chart's schema.
func (e *Environment) checkSchema(phase Phase) error {
	if err := chartutil.ValidateAgainstSchema(e.chart, e.Values(phase)); err != nil {
		return fault.Join(e.explain(phase, err)...)
	}
	return nil
}

// parseViolations takes the validator's list apart. What several values of one map have against them stands below a
// heading of that map, and so does what its rules have against them; of alternatives, all that do not fit stand below
// theirs. The order is random.
func parseViolations(text string) []violation {
	var found []violation
	alternatives := -1 // how far the heading of alternatives is indented; -1: this is not below one
	for _, line := range strings.Split(text, "\n") {
		match := violationLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		indent, message := len(match[1]), match[3]
		switch last := len(found) - 1; {
		case alternatives >= 0 && indent > alternatives:
			found[last].message += "; " + message
			continue
		case message == "validation failed" || message == "'allOf' failed":
			continue
		}
		alternatives = -1
		if strings.HasPrefix(message, "'oneOf' failed") || strings.HasPrefix(message, "'anyOf' failed") {
			alternatives = indent
		}
		found = append(found, violation{match[2], message})
	}
	slices.SortFunc(found, func(a, b violation) int {
		return strings.Compare(a.pointer+a.message,
			b.pointer+b.message)
	})
	return found
}

// schemaProblems makes a fault of each violation.
func (e *Environment) schemaProblems(text string) []error {
	found := parseViolations(text)
	if len(found) == 0 {
		return []error{fault.New(fault.ValuesInvalid, "values do not fit the chart's schema:\n"+strings.TrimSpace(text),
			valuesHint)}
	}
	var problems []error
	for _, v := range found {
		path := strings.ReplaceAll(strings.Trim(v.pointer, "/"), "/", ".")
		given, hint := path, e.schemaDescription(v.pointer)
		if extra := extraProperty.FindStringSubmatch(v.message); extra != nil {
			given, hint = strings.Trim(path+"."+extra[1], "."), e.schemaHint(v.pointer, extra[1])
		}
		// checkProxies says more
		if e.isUnknown(given) || slices.Contains(append(proxyPaths(), noProxyPath), given) &&
			strings.HasPrefix(v.message, "'") {
			continue
		}
		v.message = e.withoutValue(path, v.message)
		problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%sat '%s': %s", e.whence(given),
			v.pointer, v.message), hint))
	}
	return problems
}

// schemaDescription says what the value is for that a JSON pointer names.
func (e *Environment) schemaDescription(pointer string) string {
	if description, _ := e.schemaAt(pointer)["description"].(string); description != "" {
		return fmt.Sprintf("%s: %s", strings.ReplaceAll(strings.Trim(pointer, "/"), "/", "."), description)
	}
	return valuesHint
}

// schemaHint names the keys that are allowed at the place that a JSON pointer names, and the one that was meant by what
// is not.
func (e *Environment) schemaHint(pointer, given string) string {
	properties, _ := e.schemaAt(pointer)["properties"].(map[string]any)
	if len(properties) == 0 {
		return valuesHint
	}
	path := strings.TrimPrefix(strings.ReplaceAll(pointer, "/", ".")+".", ".")
	return suggest.Hint(given, sortedKeys(properties), path) + fmt.Sprintf("allowed there: %s",
		strings.Join(sortedKeys(properties), ", "))
}

// schemaAt is the schema of the place that a JSON pointer names; nil where it cannot be found.
func (e *Environment) schemaAt(pointer string) map[string]any {
	var schema map[string]any
	if json.Unmarshal(e.chart.Schema, &schema) != nil {
		return nil
	}
	for _, key := range strings.Split(strings.Trim(pointer, "/"), "/") {
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
	return schema
}
