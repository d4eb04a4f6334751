package environment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// compileSchema compiles the schema of a chart. A reference to another file or to an address is an error: a chart may
// come from others, and its schema fetches nothing.
func compileSchema(text []byte) (*jsonschema.Schema, error) {
	if len(text) == 0 {
		return nil, nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", SchemaFile, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // it has no loader for any scheme
	if err := compiler.AddResource("file:///"+SchemaFile, document); err != nil {
		return nil, fmt.Errorf("read %s: %w", SchemaFile, err)
	}
	schema, err := compiler.Compile("file:///" + SchemaFile)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", SchemaFile, err)
	}
	return schema, nil
}

// violation is an objection of the schema to one value. Of alternatives that do not match, it has each objection.
type violation struct {
	pointer string // the JSON pointer of the value
	kinds   []jsonschema.ErrorKind
}

// violations returns the objections of the schema to values, in the order of their places.
func violations(schema *jsonschema.Schema, values map[string]any) ([]violation, error) {
	if schema == nil {
		return nil, nil
	}
	err := schema.Validate(values)
	if err == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("check the values with %s: %w", SchemaFile, err)
	}
	found := flatten(invalid, values)
	slices.SortFunc(found, compareViolations)
	return found, nil
}

// compareViolations sorts violations: the library's order is random.
func compareViolations(a, b violation) int {
	return strings.Compare(a.pointer+a.message(), b.pointer+b.message())
}

// flatten returns the objections to values without the headings that group them.
func flatten(e *jsonschema.ValidationError, values map[string]any) []violation {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var found []violation
		for _, cause := range e.Causes {
			found = append(found, flatten(cause, values)...)
		}
		return found
	}
	if unknown, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(unknown.Properties)
	}
	at := e.InstanceLocation
	if name, ok := e.ErrorKind.(*kind.PropertyNames); ok {
		// jsonschema v6.0.3 reuses the slice: it holds the place of a later value.
		_, path, _ := strings.Cut(e.SchemaURL, "#/")
		at, _ = placeOfName(values, strings.Split(path, "/"), name.Property)
	}
	v := violation{pointer: pointerOf(at), kinds: []jsonschema.ErrorKind{e.ErrorKind}}
	for _, cause := range e.Causes {
		alternatives := flatten(cause, values)
		slices.SortFunc(alternatives, compareViolations)
		for _, alternative := range alternatives {
			v.kinds = append(v.kinds, alternative.kinds...)
		}
	}
	return []violation{v}
}

// placeOfName returns the path of the first map with a name, of those that a path in the schema leads to.
func placeOfName(values any, schema []string, name string) (keys []string, found bool) {
	object, _ := values.(map[string]any)
	switch schema[0] {
	case "propertyNames":
		_, found = object[name]
		return nil, found
	case "properties":
		keys, found = placeOfName(object[schema[1]], schema[2:], name)
		return append([]string{schema[1]}, keys...), found
	case "additionalProperties":
		for _, key := range sortedKeys(object) {
			if keys, found = placeOfName(object[key], schema[1:], name); found {
				return append([]string{key}, keys...), true
			}
		}
	}
	return nil, false // the schema has no such place
}

// pointerOf returns a JSON pointer as RFC 6901 writes it.
func pointerOf(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return b.String()
}

// message returns the objection in the library's words, which may quote the value.
func (v violation) message() string { return v.text(inEnglish) }

// text joins the objections, each in the words of say.
func (v violation) text(say func(jsonschema.ErrorKind) string) string {
	var parts []string
	for _, k := range v.kinds {
		parts = append(parts, say(k))
	}
	return strings.Join(parts, "; ")
}

func inEnglish(k jsonschema.ErrorKind) string {
	return k.LocalizedString(message.NewPrinter(language.English))
}

// extra returns the first key that is not in the schema, or "".
func (v violation) extra() string {
	if unknown, ok := v.kinds[0].(*kind.AdditionalProperties); ok {
		return unknown.Properties[0]
	}
	return ""
}

// isAboutForm reports whether the objection is to the form of a text, or to all alternatives.
func (v violation) isAboutForm() bool {
	switch v.kinds[0].(type) {
	case *kind.Pattern, *kind.Format, *kind.OneOf, *kind.AnyOf:
		return true
	}
	return false
}

// checkSchema checks the values with the chart's schema: a fault for each violation by a known value.
func (e *Environment) checkSchema(values map[string]any) error {
	found, err := violations(e.schema, values)
	if err != nil {
		return fault.Wrap(err, fault.ValuesInvalid, valuesHint)
	}
	var problems []error
	for _, v := range found {
		path := strings.ReplaceAll(strings.Trim(v.pointer, "/"), "/", ".")
		given, hint := path, e.schemaDescription(v.pointer)
		if extra := v.extra(); extra != "" {
			given, hint = strings.Trim(path+"."+extra, "."), e.schemaHint(v.pointer, extra)
		}
		// checkProxies explains the form of proxies better
		if e.isUnknown(given) || slices.Contains(append(proxyPaths(), noProxyPath), given) && v.isAboutForm() {
			continue
		}
		problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%sat '%s': %s", e.whence(given),
			v.pointer, e.withoutValue(path, v)), hint))
	}
	return fault.Join(problems...)
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
	if json.Unmarshal(e.chart.Schema(), &schema) != nil {
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
