package environment

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// DefaultGitUser is the user name for a token without one. GitLab, GitHub and Gitea accept any name with a token, and
// refuse an empty one.
const DefaultGitUser = "git"

// unfilled matches a variable that a CI system did not expand: GitLab leaves the text as it is.
var unfilled = regexp.MustCompile(`^(\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\})$`)

// CheckLogin refuses a user name or a token that no server would accept. userName and tokenName name the place of each.
// The errors contain no part of either.
func CheckLogin(userName, user, tokenName, token string) error {
	return fault.Join(checkUser(userName, user), checkToken(tokenName, token))
}

func checkUser(name, user string) error {
	why := unprintable(user)
	if strings.Contains(user, ":") {
		why = errors.New("it has a colon, which ends a user name in HTTP")
	}
	if why != nil {
		return fault.New(fault.ValuesInvalid, fmt.Sprintf("%s: not a user name: %v", name, why),
			"Set "+name+" to the user name alone, on one line.")
	}
	return nil
}

func checkToken(name, token string) error {
	refuse := func(why, hint string) error {
		return fault.New(fault.ValuesInvalid, fmt.Sprintf("%s: not a token: %s", name, why), hint)
	}
	plain := "Set " + name + " to the token alone, on one line."
	switch why := unprintable(token); {
	case why != nil:
		return refuse(why.Error(), plain)
	case isFilePath(token):
		return refuse("it is the path of a file",
			"Make "+name+" a CI/CD variable of type Variable, not of type File, or set it to the content of the file.")
	case token == "[MASKED]" || token != "" && strings.Trim(token, "*") == "":
		return refuse("it is what a log shows in place of a masked value", plain)
	case unfilled.MatchString(token):
		return refuse("it is the name of a variable that has no value",
			"Define the variable that "+name+" refers to, or set "+name+" to the token itself.")
	}
	return nil
}

// unprintable returns an error for the first character that is white space or not printable.
func unprintable(text string) error {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			return errors.New("it has a line break")
		case r == ' ' || r == '\t':
			return errors.New("it has a space or a tab")
		case !unicode.IsGraphic(r) || unicode.IsSpace(r):
			return fmt.Errorf("it has the character U+%04X", r)
		}
	}
	return nil
}

// fileVariable matches the value of a CI/CD variable of type File in GitLab: a path that ends in the variable's name.
var fileVariable = regexp.MustCompile(`^/.+/[A-Z][A-Z0-9_]*$`)

// isFilePath reports whether a value is the path of a file, or has the form of a fileVariable.
func isFilePath(value string) bool {
	if !strings.HasPrefix(value, "/") {
		return false
	}
	info, err := os.Stat(value)
	return err == nil && info.Mode().IsRegular() || fileVariable.MatchString(value)
}
