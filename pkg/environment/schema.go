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

// violation is an objection of the schema to one value.
type violation struct{ pointer, message string }

// violationLine is a line of Helm's schema validator: its indentation, the place of the value, the message.
var violationLine = regexp.MustCompile(`^( *)- at '([^']*)': (.*)$`)

// extraProperty finds the first key that is not in the schema.
var extraProperty = regexp.MustCompile(`^additional propert[a-z]+ '([^']*)'`)

// checkSchema checks the values with the chart's schema.
func (e *Environment) checkSchema(phase Phase) error {
	if err := chartutil.ValidateAgainstSchema(e.chart, e.Values(phase)); err != nil {
		return fault.Join(e.explain(phase, err)...)
	}
	return nil
}

// parseViolations parses the validator's list. Objections to several values of one map are below a heading of that map,
// and so are those of its rules. Below a heading of alternatives are all that do not match. The order is random.
func parseViolations(text string) []violation {
	var found []violation
	alternatives := -1 // the indentation of the heading of alternatives; -1: not below one
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
		// checkProxies reports more
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

// schemaDescription returns the description of the value at a JSON pointer.
func (e *Environment) schemaDescription(pointer string) string {
	if description, _ := e.schemaAt(pointer)["description"].(string); description != "" {
		return fmt.Sprintf("%s: %s", strings.ReplaceAll(strings.Trim(pointer, "/"), "/", "."), description)
	}
	return valuesHint
}

// schemaHint lists the keys that are allowed at a JSON pointer, and suggests the one that was meant.
func (e *Environment) schemaHint(pointer, given string) string {
	properties, _ := e.schemaAt(pointer)["properties"].(map[string]any)
	if len(properties) == 0 {
		return valuesHint
	}
	path := strings.TrimPrefix(strings.ReplaceAll(pointer, "/", ".")+".", ".")
	return suggest.Hint(given, sortedKeys(properties), path) + fmt.Sprintf("allowed there: %s",
		strings.Join(sortedKeys(properties), ", "))
}

// schemaAt returns the schema at a JSON pointer, or nil if there is none.
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
