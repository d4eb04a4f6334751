package environment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// SchemaFile is the chart's schema next to values, for editors.
const SchemaFile = "values.schema.json"

// Scaffold returns the files of a new environment, by name, that is based on the environment options.Name: its base, a
// file of values with what must be set, and the schema for editors. folder is where it will be, cluster the name of its
// Cluster. It ignores options.Variables. The errors are those of Load, except for values, variables and secrets that
// must be set.
func Scaffold(ctx context.Context, options Options, folder, cluster string) (map[string][]byte, error) {
	from, err := seenFrom(folder, options.Name)
	if err != nil {
		return nil, err
	}
	options.Variables, options.root = nil, filepath.Dir(realPlace(folder))
	options.Sets = append(options.Sets, "cluster.name="+cluster)
	_, err = Load(ctx, options)
	var wanted []string
	var notes []string
	for _, problem := range fault.Problems(err) {
		var lacks withheldError
		if errors.As(problem, &lacks) {
			notes = append(notes, fmt.Sprintf("The secrets of %s are not used from here. Write into %s: %s",
				lacks.file, OwnSecretsFile, strings.Join(lacks.paths, ", ")))
			continue
		}
		switch found := valuePath.FindString(problem.Error()); fault.CodeOf(problem) {
		case fault.ValuesInvalid:
			if found == "" || !strings.Contains(problem.Error(), "is empty") {
				return nil, problem
			}
			if Secret(found) {
				notes = append(notes, fault.HintOf(problem))
				continue
			}
			wanted = append(wanted, found)
		case fault.EnvironmentUnknown, fault.EnvironmentInvalid, fault.ComponentUnknown, fault.ComponentCycle:
			return nil, problem
		default: // a variable, or credentials, taken from where the environment is used
			notes = append(notes, fault.HintOf(problem))
		}
	}
	keys, err := Keys(options.Content)
	if err != nil {
		return nil, err
	}
	schema, err := editorSchema(options.Content)
	if err != nil {
		return nil, err
	}
	// A value that is set in the base applies here too: an empty value of this file would override it.
	if isPath(options.Name) && len(wanted) > 0 {
		notes = append(notes, "Set here, or in "+from+": "+strings.Join(wanted, ", "))
		wanted = nil
	}
	s := scaffold{keys: keys, variables: rawValues(options), cluster: cluster}
	return map[string][]byte{
		FromFile: []byte("# The environment that this one stands on: its values come first, then those of " +
			OwnValuesFile + " and " + OwnSecretsFile + ".\nfrom: " + scalar(from) + "\n"),
		OwnValuesFile: []byte(s.values(from, append([]string{"cluster.name"}, wanted...), notes)),
		SchemaFile:    schema,
	}, nil
}

// scalar writes a text as YAML on one line, with quotes where a reader of YAML would take it for something else.
func scalar(text string) string {
	written, err := yaml.Marshal(text)
	if plain := strings.TrimSuffix(string(written), "\n"); err == nil && !strings.Contains(plain, "\n") {
		return plain
	}
	quoted, _ := json.Marshal(text) // YAML reads JSON; text always has a form in it
	return string(quoted)
}

// seenFrom is the name of an environment in a file of folder: a path is relative to it.
func seenFrom(folder, name string) (string, error) {
	if !isPath(name) {
		return name, nil
	}
	absolute, err := filepath.Abs(name)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err == nil {
		name, err = filepath.Rel(realPlace(folder), absolute)
	}
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("find the folder %s: %w", name, err), fault.EnvironmentUnknown,
			"Use an absolute path.")
	}
	if !isPath(name) {
		name = "." + string(filepath.Separator) + name
	}
	return filepath.ToSlash(name), nil
}

// realPlace is where a folder will be, with links resolved: it need not exist yet.
func realPlace(folder string) string {
	if resolved, err := filepath.EvalSymlinks(folder); err == nil || filepath.Dir(folder) == folder {
		return cmp.Or(resolved, folder)
	}
	return filepath.Join(realPlace(filepath.Dir(folder)), filepath.Base(folder))
}

// scaffold writes a file of values.
type scaffold struct {
	keys      []Key
	variables map[string]any // the values of the base environment, with the names of variables in them
	cluster   string
}

func (s scaffold) values(from string, wanted, notes []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n", SchemaFile)
	fmt.Fprintf(&b, "# Values over those of %s. What must be set is below; \"cluster-init explain KEY\" says what "+
		"else there is, and\n", oneline.Blanks(from))
	fmt.Fprintf(&b, "# \"cluster-init show values . --show-origin\" what each value is, and where it is from. Secrets "+
		"go into %s.\n", OwnSecretsFile)
	for _, note := range notes {
		for _, line := range strings.Split(note, "\n") {
			fmt.Fprintf(&b, "# %s\n", line)
		}
	}
	var open []string // the maps around the last line
	for _, at := range wanted {
		parts := strings.Split(at, ".")
		same := 0
		for same < len(open) && same < len(parts)-1 && open[same] == parts[same] {
			same++
		}
		for i := same; i < len(parts)-1; i++ {
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), parts[i])
		}
		open = parts[:len(parts)-1]
		indent := strings.Repeat("  ", len(open))
		fmt.Fprintf(&b, "%s# %s\n%s%s: %s\n", indent, s.description(at), indent, parts[len(parts)-1], s.value(at))
	}
	return b.String()
}

func (s scaffold) description(at string) string {
	for _, k := range s.keys {
		if rest, below := k.Below(at); below && rest == "" {
			return k.Description
		}
	}
	return "Required."
}

// value is the text in the file: the variable that the base environment takes it from, or nothing.
func (s scaffold) value(path string) string {
	if path == "cluster.name" {
		return s.cluster
	}
	if raw, _ := at(s.variables, path); raw != nil {
		if text, isText := raw.(string); isText && strings.Contains(text, "${") {
			return fmt.Sprintf("%q", text)
		}
	}
	return `""`
}

// rawValues are the values of a built-in environment as in its file, with the names of variables. Nil for a folder.
func rawValues(options Options) map[string]any {
	if isPath(options.Name) {
		return nil
	}
	content, err := fs.ReadFile(options.Content, path.Join(environmentsFolder, options.Name, OwnValuesFile))
	if err != nil {
		return nil
	}
	values, err := helm.ReadValues(content)
	if err != nil {
		return nil
	}
	return values
}

// editorSchema is the chart's schema without required keys: a file of values has only changes.
func editorSchema(content fs.FS) ([]byte, error) {
	loaded, _, err := loadChart(content)
	if err != nil {
		return nil, err
	}
	var schema map[string]any
	if err := json.Unmarshal(loaded.Schema(), &schema); err != nil {
		return nil, fmt.Errorf("read the schema of chart %s: %w", ReleaseName, err)
	}
	withoutRequired(schema)
	out, err := json.MarshalIndent(schema, "", "  ")
	return append(out, '\n'), err
}

// withoutRequired removes the keyword from a schema and from the schemas below, except in conditions (if, not) and in
// lists of schemas. A property with the name required stays.
func withoutRequired(schema map[string]any) {
	if _, isKeyword := schema["required"].([]any); isKeyword {
		delete(schema, "required")
	}
	for key, below := range schema {
		if nested, isMap := below.(map[string]any); isMap && key != "if" && key != "not" {
			withoutRequired(nested)
		}
	}
}
