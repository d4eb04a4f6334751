package environment

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// AnyName stands in the path of a Key for a name that the user chooses.
const AnyName = "NAME"

// Key is one value of the chart, by its schema and its values.yaml.
type Key struct {
	// "cluster.control_plane.replicas"; the entries of a list are "x[]", those of a map of any keys "x.NAME"
	Path        string   `json:"path"`
	Description string   `json:"description"`
	Type        string   `json:"type"`              // in words: "integer, 1 to 9", "one of the allowed words"
	Pattern     string   `json:"pattern,omitempty"` // a regular expression that text must match
	Default     any      `json:"default,omitempty"` // of the chart; an environment may have another
	Required    bool     `json:"required,omitempty"`
	Allowed     []string `json:"allowed,omitempty"`
}

// Below reports whether a key is at or below a dotted path that a user wrote, and returns the rest of its path. path
// contains actual names and list indexes.
func (k Key) Below(path string) (rest string, below bool) {
	if path == "" {
		return k.Path, true
	}
	own, given := strings.Split(entry.ReplaceAllString(k.Path, anyEntry), "."),
		strings.Split(entry.ReplaceAllString(path, anyEntry), ".")
	if len(given) > len(own) {
		return "", false
	}
	for i, name := range given {
		if own[i] != name && own[i] != AnyName {
			return "", false
		}
	}
	return strings.Join(own[len(given):], "."), true
}

// entry matches the index of a list entry: "x[]" of a Key, "x[0]" for --set. anyEntry stands for any index.
var entry = regexp.MustCompile(`\[[0-9]*\]`)

const anyEntry = ".[]"

// node is a part of a JSON schema, as far as this chart uses it.
type node struct {
	Description string          `json:"description"`
	Type        any             `json:"type"` // one name, or several
	Enum        []any           `json:"enum"`
	Pattern     string          `json:"pattern"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	Required    []string        `json:"required"`
	Properties  map[string]node `json:"properties"`
	Additional  any             `json:"additionalProperties"` // whether other properties are allowed, or their schema
	Items       *node           `json:"items"`
}

// Keys are all values of the chart in content, each followed by those below it.
func Keys(content fs.FS) ([]Key, error) {
	loaded, _, err := loadChart(content)
	if err != nil {
		return nil, err
	}
	var root node
	if err := json.Unmarshal(loaded.Schema(), &root); err != nil {
		return nil, fmt.Errorf("read the schema of chart %s: %w", ReleaseName, err)
	}
	return keysBelow(root, "", loaded.Defaults()), nil
}

func keysBelow(n node, path string, defaults map[string]any) []Key {
	var keys []Key
	add := func(child node, at string, required bool) {
		keys = append(append(keys, child.key(at, required, defaults)), keysBelow(child, at, defaults)...)
	}
	for _, name := range sortedKeys(n.Properties) {
		add(n.Properties[name], strings.TrimPrefix(path+"."+name, "."), slices.Contains(n.Required, name))
	}
	if others := n.others(); others != nil {
		add(*others, path+"."+AnyName, false)
	}
	if n.Items != nil && n.Items.Properties != nil {
		keys = append(keys, keysBelow(*n.Items, path+"[]", defaults)...)
	}
	return keys
}

// others returns the schema of a map's entries if the user chooses their keys. Nil means there is no such schema.
func (n node) others() *node {
	described, isSchema := n.Additional.(map[string]any)
	if !isSchema {
		return nil
	}
	text, err := json.Marshal(described)
	var others node
	if err != nil || json.Unmarshal(text, &others) != nil {
		return nil
	}
	return &others
}

func (n node) key(path string, required bool, defaults map[string]any) Key {
	k := Key{Path: path, Description: n.Description, Type: n.words(), Pattern: n.Pattern, Required: required}
	k.Default, _ = at(defaults, path)
	for _, value := range n.Enum {
		k.Allowed = append(k.Allowed, fmt.Sprint(value))
	}
	return k
}

// digits writes a large number without an exponent.
func digits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// mostExact is the largest integer up to which a number of JSON is exact.
const mostExact = 1<<53 - 1

// words describes the values that are allowed.
func (n node) words() string {
	if len(n.Enum) > 0 {
		return "one of the allowed words"
	}
	name := "anything"
	switch kind := n.Type.(type) {
	case string:
		name = kind
	case []any:
		names := make([]string, len(kind))
		for i, each := range kind {
			names[i] = fmt.Sprint(each)
		}
		name = strings.Join(names, " or ")
	}
	name = strings.NewReplacer("object", "map", "array", "list").Replace(name)
	if n.Items != nil {
		name += " of " + n.Items.words()
	}
	switch {
	case n.Maximum != nil && *n.Maximum == mostExact: // a bound of JSON's numbers, and not of the value
	case n.Minimum != nil && n.Maximum != nil:
		name += ", " + digits(*n.Minimum) + " to " + digits(*n.Maximum)
	case n.Minimum != nil:
		name += ", at least " + digits(*n.Minimum)
	case n.Maximum != nil:
		name += ", at most " + digits(*n.Maximum)
	}
	return name
}
