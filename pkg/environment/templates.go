package environment

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// The maximum numbers of components, of all entries in their dependsOn, and of all actions in their templates: the
// chart walks the dependencies once for each component. Actions count once for each phase.
const (
	mostComponents = 500
	mostDependsOn  = 2000
	mostActions    = 2000
	mostWriters    = 3 // in one action: each may double its text
)

// Helm runs the templates in values without a bound on time or memory, and their author may be a stranger. So a
// template may read, compare and write values. It may not repeat anything: no loop, no variable, no definition. Only
// writers may return much more text than their arguments have.
var (
	readers = words(`and or not eq ne lt le gt ge default empty coalesce ternary toString int int64 float64 add sub trim
		trimSuffix trimPrefix trimAll lower upper contains hasPrefix hasSuffix kindIs hasKey get dig index len first
		last has required fail sha256sum trunc b64dec dict list print printf include semverCompare atoi max min mod div
		kindOf keys values`)
	writers = words("toJson toYaml quote squote b64enc")
	// helpers are the chart's templates that run no template from values, or only the path of component cluster.
	helpers = words(`bootstrapComponent controlPlaneTaints rke2CNI nodeImage dockerSocket templateHash controlPlaneAPI
		controlPlaneKind fingerprint`)
	plainFormat = regexp.MustCompile(`^([^%]|%[svdqt%])*$`)
)

func words(text string) []string { return strings.Fields(text) }

// checkTemplates refuses templates in the values of components that could cost unbounded work, before it runs any.
func (e *Environment) checkTemplates() error {
	actions := 0
	var problems []error
	seen := map[string]bool{}
	for _, phase := range e.phases() {
		components, _ := e.settled[phase]["components"].(map[string]any)
		if len(components) > mostComponents {
			return fault.New(fault.ValuesInvalid, fmt.Sprintf("%scomponents has more than %d entries",
				e.whence("components"), mostComponents), "Join components.")
		}
		dependencies := 0
		for _, name := range sortedKeys(components) {
			component, _ := components[name].(map[string]any)
			list, _ := component["dependsOn"].([]any)
			if dependencies += len(list); dependencies > mostDependsOn {
				return fault.New(fault.ValuesInvalid, fmt.Sprintf("%scomponents have more than %d entries in dependsOn",
					e.whence("components."+name+".dependsOn"), mostDependsOn),
					"Take out the entries that others imply.")
			}
			// the name is in the path if the component sets no other
			texts := append(templatesOf(component), fieldText{"path", name})
			for _, text := range texts {
				path := "components." + name + "." + text.field
				err := checkTemplateText(text.text, &actions)
				if err == nil || seen[path] {
					continue
				}
				seen[path] = true
				problems = append(problems, fault.Wrap(fmt.Errorf("%s%s: %w", e.whence(path), path, err),
					fault.ValuesInvalid,
					"Write the text out. A template may read values (.Values.KEY), compare them (if, eq) and write "+
						"them (toJson, quote, default)."))
			}
		}
	}
	return fault.Join(problems...)
}

// fieldText is the text of a field that the chart runs as a template.
type fieldText struct{ field, text string }

// templatesOf returns the texts of a component as the chart makes them.
func templatesOf(component map[string]any) []fieldText {
	var texts []fieldText
	for _, field := range []string{"path", "namespace"} {
		texts = append(texts, fieldText{field, asText(component[field])})
	}
	dependencies, _ := component["dependsOn"].([]any)
	for _, dependency := range dependencies {
		texts = append(texts, fieldText{"dependsOn", asText(dependency)})
	}
	variables, _ := component["substitute"].(map[string]any)
	for _, name := range sortedKeys(variables) {
		texts = append(texts, fieldText{"substitute." + name, asText(variables[name])})
	}
	spec, err := yaml.Marshal(component["spec"]) // the chart runs it as a whole
	if err == nil {
		texts = append(texts, fieldText{"spec", string(spec)})
	}
	return texts
}

func asText(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// checkTemplateText refuses a template that does more than read, compare and write. It leaves an unparsable one to
// Helm, which does not run it.
func checkTemplateText(text string, actions *int) error {
	if !strings.Contains(text, "{{") {
		return nil
	}
	if *actions += strings.Count(text, "{{"); *actions > mostActions {
		return fmt.Errorf("all templates in values have more than %d actions", mostActions)
	}
	tree, all := parse.New("value"), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", all); err != nil {
		return nil
	}
	if len(all) > 1 {
		return errors.New("a template in a value defines no other one")
	}
	return checkNode(tree.Root)
}

func checkNode(node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil { // an if without else
			return nil
		}
		for _, child := range n.Nodes {
			if err := checkNode(child); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode, *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return checkPipe(n.Pipe, new(int))
	case *parse.IfNode:
		return errors.Join(checkPipe(n.Pipe, new(int)), checkNode(n.List), checkNode(n.ElseList))
	case *parse.RangeNode:
		return errors.New("a template in a value has no range")
	case *parse.WithNode:
		return errors.New("a template in a value has no with")
	default:
		return errors.New("a template in a value runs no other one")
	}
}

// checkPipe checks a pipe. count is the number of writers so far in the action that the pipe is in.
func checkPipe(pipe *parse.PipeNode, count *int) error {
	if len(pipe.Decl) > 0 {
		return errors.New("a template in a value has no variables")
	}
	for _, command := range pipe.Cmds {
		if err := checkCommand(command, count); err != nil {
			return err
		}
	}
	return nil
}

func checkCommand(command *parse.CommandNode, count *int) error {
	for i, argument := range command.Args {
		switch n := argument.(type) {
		case *parse.IdentifierNode:
			if err := checkFunction(n.Ident, command.Args[i+1:], count); err != nil {
				return err
			}
		case *parse.PipeNode:
			if err := checkPipe(n, count); err != nil {
				return err
			}
		case *parse.ChainNode:
			inner, isPipe := n.Node.(*parse.PipeNode)
			if !isPipe {
				return errors.New("a template in a value takes fields of values only")
			}
			if err := checkPipe(inner, count); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFunction(name string, arguments []parse.Node, count *int) error {
	if slices.Contains(writers, name) {
		if *count++; *count > mostWriters {
			return fmt.Errorf("an action of a template has at most %d of %s", mostWriters, strings.Join(writers, ", "))
		}
		return nil
	}
	if !slices.Contains(readers, name) {
		return fmt.Errorf("a template in a value does not use the function %s", name)
	}
	var first string
	if len(arguments) > 0 {
		if text, isText := arguments[0].(*parse.StringNode); isText {
			first = text.Text
		}
	}
	helper, isChart := strings.CutPrefix(first, ReleaseName+".")
	switch {
	case name == "include" && !(isChart && slices.Contains(helpers, helper)):
		return fmt.Errorf("a template in a value includes only %s.NAME, where NAME is one of: %s",
			ReleaseName, strings.Join(helpers, ", "))
	case name == "printf" && (first == "" || !plainFormat.MatchString(first)):
		return errors.New("printf in a template of a value has a plain format: %s, %d, %q, %v or %t")
	}
	return nil
}
