package sylva

import (
	"regexp"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// variable matches what envsubst replaces: $NAME and ${NAME}. The seed's script pipes all files through envsubst.
var variable = regexp.MustCompile(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// braced writes the variables in a value as this project does. It returns those that an environment may not use, which
// stay as text.
func braced(n *yaml.Node) (refused []string) {
	if n.Kind == yaml.ScalarNode {
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(found string) string {
			parts := variable.FindStringSubmatch(found)
			name := parts[1] + parts[2]
			switch {
			case environment.MayUse(name):
				return "${" + name + "}"
			case parts[2] != "":
				refused = append(refused, name)
				return "$" + found // which stands for itself
			}
			refused = append(refused, name)
			return found
		})
	}
	for _, below := range n.Content {
		refused = append(refused, braced(below)...)
	}
	return refused
}

// emptyIfUnset gives variables an empty default, as envsubst does: a shell without proxies has none.
func emptyIfUnset(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		n.Value = whole.ReplaceAllString(n.Value, "$${$1:=}")
	}
	for _, below := range n.Content {
		emptyIfUnset(below)
	}
}

var whole = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
