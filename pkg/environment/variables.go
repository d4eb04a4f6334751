package environment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// allowed are the variables that an environment may use. The list keeps an environment from reading other content of
// the user's shell.
var allowed = []string{
	"GITLAB_USER", "GITLAB_TOKEN", "CURRENT_COMMIT", "DOCKER_HOST",
	"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	// Not all of AWS's: others are secrets, and would end up in a ConfigMap.
	"AWS_B64ENCODED_CREDENTIALS", "AWS_REGION", "AWS_SSH_KEY_NAME", "AWS_S3_BUCKET_NAME",
	"AWS_CONTROL_PLANE_MACHINE_TYPE", "AWS_NODE_MACHINE_TYPE",
	// OpenStack's, by the names of Cluster API's provider.
	"OPENSTACK_CLOUD", "OPENSTACK_CLOUD_YAML_B64", "OPENSTACK_CLOUD_CACERT_B64", "OPENSTACK_IMAGE_NAME",
	"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR", "OPENSTACK_NODE_MACHINE_FLAVOR", "OPENSTACK_SSH_KEY_NAME",
	"OPENSTACK_FAILURE_DOMAIN",
	"OPENSTACK_EXTERNAL_NETWORK", "OPENSTACK_DNS_NAMESERVERS", "OPENSTACK_API_SERVER_FLOATING_IP",
}

// allowedPrefixes are families of variables: OpenStack's, and those of users for their own files. The other
// CLUSTER_INIT_ variables are flags and secrets of cluster-init itself, which environments must not read.
var allowedPrefixes = []string{"OS_", ownPrefix}

const ownPrefix = "CLUSTER_INIT_VAR_"

// missingVariable is the error for a variable that is not set and has no default.
type missingVariable struct{ name string }

func (m missingVariable) Error() string { return fmt.Sprintf("variable %s is not set", m.name) }

// forbiddenVariable is the error for a variable that an environment may not read.
type forbiddenVariable struct{ name string }

func (f forbiddenVariable) Error() string {
	return fmt.Sprintf("variable %s is not one that an environment may use; these are: %s, and all that start with %s",
		f.name, strings.Join(allowed, ", "), strings.Join(allowedPrefixes, " or "))
}

// hint proposes a valid name for the variable.
func (f forbiddenVariable) hint() string {
	rest := strings.TrimPrefix(f.name, "CLUSTER_INIT_")
	return fmt.Sprintf("Call a variable of your own %s%s, in the file and in the shell.", ownPrefix,
		strings.ToUpper(rest))
}

// LacksVariable reports whether an error of Load has a missing variable among its causes: the names of the
// environment's resources may not be known then.
func LacksVariable(err error) bool {
	_, lacks := errors.AsType[missingVariable](err)
	return lacks
}

// expand replaces ${NAME} by its value, and ${NAME:=default} by its value or, if that is unset or empty, by the
// default, which ends at the first }. $${ stands for ${. Every other $ stays. The error reports all variables that are
// missing or forbidden.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	var problems error
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			return out.String(), problems
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		expression, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return "", fault.Join(problems, errors.New("a ${ has no closing brace; write $${ for a literal ${"))
		}
		value, err := evaluate(expression, lookup)
		problems = fault.Join(problems, err)
		out.WriteString(value)
		text = rest
	}
}

func evaluate(expression string, lookup func(string) (string, bool)) (string, error) {
	name, fallback, hasFallback := strings.Cut(expression, ":=")
	if !validName(name) {
		// The text is not quoted: it may be part of a password.
		return "", errors.New("a ${...} is neither ${NAME} nor ${NAME:=default}; write $${ for a literal ${")
	}
	if !MayUse(name) {
		return "", forbiddenVariable{name}
	}
	value, found := find(name, lookup)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !found:
		return "", missingVariable{name}
	}
	return value, nil
}

// find looks a variable up by all its names. The first one that is not empty wins. An empty proxy variable wins too,
// and means no proxy.
func find(name string, lookup func(string) (string, bool)) (string, bool) {
	if lookup == nil {
		return "", false
	}
	found := false
	for _, spelling := range spellings(name) {
		value, ok := lookup(spelling)
		if found = found || ok; ok && (value != "" || strings.HasSuffix(name, "_proxy")) {
			return value, true
		}
	}
	return "", found
}

// spellings are the names of a variable, the preferred one first. Proxy variables exist in both cases, and the lower
// one wins, as in curl. An external network also has the name of Cluster API's provider for OpenStack.
func spellings(name string) []string {
	if strings.HasSuffix(name, "_proxy") {
		return []string{name, strings.ToUpper(name)}
	}
	if name == "OPENSTACK_EXTERNAL_NETWORK" {
		return []string{name, name + "_ID"}
	}
	return []string{name}
}

// MayUse reports whether an environment may use a variable of the shell.
func MayUse(name string) bool {
	return slices.Contains(allowed, name) ||
		slices.ContainsFunc(allowedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func validName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
