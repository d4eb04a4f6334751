package environment

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// hidden replaces a value that must not be quoted.
const hidden = "***"

// mayQuote reports whether a message may show the value at a path: not if it comes from a variable or a Secret, has the
// name of a secret, or contains @, as an address with a password does.
func (e *Environment) mayQuote(path, value string) bool {
	if path == noProxyPath { // names and addresses, also from a variable: the message quotes the wrong one
		return mayQuoteNoProxy(value)
	}
	_, secret := at(e.effective.secrets, path)
	_, infra := at(e.effective.infraSecrets, path)
	return !secret && !infra && !e.filled[value] && !Secret(path) && !strings.Contains(value, "@")
}

// scalarAt returns the text of the value at a path. Empty means there is none, or it is a map or a list.
func (e *Environment) scalarAt(path string) string {
	switch value, _ := at(e.settled[e.lasting()], path); value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(value)
	}
}

// gotNumber finds the number that a value is in an objection of the schema.
var gotNumber = regexp.MustCompile(`\bgot [-0-9.e+]+, `)

// withoutValue returns the schema's objection to the value at a path, with the expected form, and without the value if
// it must not be quoted.
func (e *Environment) withoutValue(path string, v violation) string {
	quoted := v.message()
	mayHoldLogin := v.isAboutForm() && strings.Contains(quoted, "@")
	if e.mayQuote(path, e.scalarAt(path)) && !mayHoldLogin {
		return quoted
	}
	return v.text(func(k jsonschema.ErrorKind) string {
		switch k := k.(type) {
		case *kind.Pattern:
			return "invalid value: want text that matches " + k.Want
		case *kind.Format:
			return "invalid value: want " + k.Want
		}
		return gotNumber.ReplaceAllString(inEnglish(k), "")
	})
}

// unquote hides values in an error message that must not be quoted: those at the paths that the message names.
func (e *Environment) unquote(err error) error {
	var problems []error
	for _, problem := range fault.Problems(err) {
		text, hint := problem.Error(), fault.HintOf(problem)
		for _, path := range valuePath.FindAllString(text, -1) {
			value := e.scalarAt(path)
			if value == "" || e.mayQuote(path, value) {
				continue
			}
			text, hint = withoutWord(text, value), withoutWord(hint, value)
		}
		if text != problem.Error() || hint != fault.HintOf(problem) {
			problem = fault.New(fault.CodeOf(problem), text, hint)
		}
		problems = append(problems, problem)
	}
	return fault.Join(problems...)
}

// withoutWord hides a value that is a separate word.
func withoutWord(text, value string) string {
	return regexp.MustCompile(`(^|[\s"'(=])`+regexp.QuoteMeta(value)+`($|[\s"'),;:.])`).ReplaceAllString(
		text, "${1}"+hidden+"${2}")
}
