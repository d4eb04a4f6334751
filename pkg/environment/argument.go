package environment

import (
	"cmp"
	"regexp"
	"strings"
)

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./@%+,:=-]+$`)

// Argument is how a command names the environment, for a shell: its name, or the folder as this run was given it.
func (e *Environment) Argument() string {
	argument := cmp.Or(e.argument, e.name)
	if plainWord.MatchString(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
