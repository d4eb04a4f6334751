package sylva

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// steps are the seed's components that are phases of a run in this project.
var steps = map[string]string{
	"pivot": "the pivot is a phase of `up`, which plans, checks and verifies it: cluster-init " +
		"pivot plan",
	"management-cluster-configs": "`up` gives the management cluster its values",
}

// seedRepositories are the names under which the seed's components find the seed's own repository.
var seedRepositories = []string{"capi-bootstrap", "cluster-init", "telco-cloud-init", "sylva-core"}

const ownFolder = "the folder is in the seed's repository, and the component has its own here: for yours, write " +
	"components.NAME.path"

const ownRepository = "here that is the source: --source git --source-url URL, with the folders that the components " +
	"name"

// component converts one component.
func (c *conversion) component(name string, _, value *yaml.Node) {
	from := "components." + name
	if why := steps[name]; why != "" {
		c.leave(from, why)
		return
	}
	ours := slices.Contains(c.components(), name)
	if !ours && lookup(value, "kustomization_spec", "path") == nil && lookup(value, "spec", "path") == nil &&
		lookup(value, "path") == nil {
		c.leave(from, "this project's chart has no such component, and no kustomization_spec.path says where its "+
			"folder is")
		return
	}
	at := func(names ...string) []string { return append([]string{"components", name}, names...) }
	each(value, func(key string, comments, value *yaml.Node) {
		switch key {
		case "enabled":
			c.enabled(at(key), comments, value)
		case "kustomization_spec", "spec":
			c.spec(name, key, ours, value)
		case "path":
			if ours {
				c.leave(strings.Join(at(key), "."), ownFolder)
				return
			}
			c.say(at(key), at(key), comments, value)
		case "depends_on", "dependsOn":
			if ours {
				c.leave(strings.Join(at(key), "."), "this component has its own dependencies here")
				return
			}
			c.dependencies(at(key), comments, value)
		case "repo":
			if slices.Contains(seedRepositories, value.Value) {
				c.leave(strings.Join(at(key), "."), ownRepository)
				return
			}
			c.say(at(key), at(key), comments, value)
		case "helmrelease_spec", "helm_repo_url", "helm_secret_values":
			c.leave(strings.Join(at(key), "."),
				"a component is a Kustomization here: put a HelmRelease into its folder")
		case "kustomization_substitute_secrets":
			c.leave(strings.Join(at(key), "."), "put the variables into a Secret of yours, and name it in components."+
				name+".spec.postBuild.substituteFrom")
		default:
			if c.has("components." + environment.AnyName + "." + key) {
				c.say(at(key), at(key), comments, value)
				return
			}
			c.leave(strings.Join(at(key), "."), "a component has no such value here")
		}
	})
}

// components are those of this project's chart.
func (c *conversion) components() []string {
	var names []string
	for _, k := range c.keys {
		if k.Path != "components" {
			continue
		}
		defaults, _ := k.Default.(map[string]any)
		for name := range defaults {
			names = append(names, name)
		}
	}
	return names
}

// enabled converts whether a component is enabled. The seed's YAML has other words for it, too.
func (c *conversion) enabled(path []string, comments, value *yaml.Node) {
	words := map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false",
		"off": "false"}
	word, known := words[strings.ToLower(value.Value)]
	switch {
	case value.Value == "bootstrap-only" || value.Value == "management-only":
		c.say(path, path, comments, value)
		return
	case isTemplate(value):
		c.leave(strings.Join(path, "."), "it is made by a template: write true, false, bootstrap-only or "+
			"management-only")
		return
	case !known:
		c.leave(strings.Join(path, "."),
			fmt.Sprintf("%q is none of true, false, bootstrap-only and management-only: write one of them",
				value.Value))
		return
	}
	c.say(path, path, comments, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: word})
}

// spec converts a component's part of a Kustomization's spec: some of its fields have names of their own here.
func (c *conversion) spec(name, field string, ours bool, spec *yaml.Node) {
	each(spec, func(key string, comments, value *yaml.Node) {
		from := []string{"components", name, field, key}
		switch {
		case key == "path" && ours:
			c.leave(strings.Join(from, "."), ownFolder)
		case key == "path":
			c.say(from, []string{"components", name, "path"}, comments, value)
		case key == "sourceRef":
			c.leave(strings.Join(from, "."), ownRepository)
		case key == "dependsOn" && ours:
			c.leave(strings.Join(from, "."), "this component has its own dependencies here")
		case key == "dependsOn":
			c.dependencies(from, comments, value)
		case key == "postBuild":
			each(value, func(below string, comments, value *yaml.Node) {
				from := append(slices.Clone(from), below)
				if below != "substitute" {
					c.say(from, []string{"components", name, "spec", key, below}, comments, value)
					return
				}
				c.substitute(name, ours, from, value)
			})
		default:
			c.say(from, []string{"components", name, "spec", key}, comments, value)
		}
	})
}

// substitute converts a component's variables. Templates in them name values of the seed.
func (c *conversion) substitute(name string, ours bool, from []string, variables *yaml.Node) {
	each(variables, func(key string, comments, value *yaml.Node) {
		from := append(slices.Clone(from), key)
		switch {
		case ours:
			c.leave(strings.Join(from, "."), "the manifests of this component are others here, and have no such "+
				"variable")
		case value.Tag == "!!null":
			c.leave(strings.Join(from, "."), fmt.Sprintf("it is empty: write its value as components.%s.substitute.%s",
				name, key))
		default:
			value = copied(value)
			if unknown := c.retarget(value); unknown != "" {
				c.leave(strings.Join(from, "."), "its template reads "+unknown+
					", which no value here is called: write what it comes to")
				return
			}
			c.say(from, []string{"components", name, "substitute", key}, comments, value)
		}
	})
}

// templateValue finds the values that a template reads.
var templateValue = regexp.MustCompile(`\.Values((?:\.[A-Za-z_][A-Za-z0-9_]*)+)`)

// retarget renames the values that a template reads, and returns the first one without a counterpart. Empty means each
// has one.
func (c *conversion) retarget(value *yaml.Node) (unknown string) {
	if value.Kind != yaml.ScalarNode || !isTemplate(value) {
		return ""
	}
	value.Value = templateValue.ReplaceAllStringFunc(value.Value, func(found string) string {
		path := strings.TrimPrefix(found, ".Values.")
		if c.infrastructure != "" && strings.HasPrefix(path, c.infrastructure+".") {
			path = "cluster." + path
		}
		if to := renamed["cluster."+c.infrastructure+".image"]; path == "cluster.image" && to != nil {
			path = to[0]
		}
		if to := renamed[path]; len(to) > 0 {
			path = to[0]
		}
		if !slices.ContainsFunc(c.keys, func(k environment.Key) bool { return k.Path == path }) && unknown == "" {
			unknown = found
		}
		return ".Values." + path
	})
	return unknown
}

// dependencies converts dependencies. In the seed they are a list of {name: NAME} or of names, or a map of names to
// true.
func (c *conversion) dependencies(from []string, comments, value *yaml.Node) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, entry := range value.Content {
		if n := lookup(entry, "name"); value.Kind == yaml.SequenceNode && n != nil {
			list.Content = append(list.Content, n)
		} else if value.Kind == yaml.SequenceNode && entry.Kind == yaml.ScalarNode {
			list.Content = append(list.Content, entry)
		}
	}
	each(value, func(key string, _, value *yaml.Node) {
		if value.Value == "true" {
			list.Content = append(list.Content, text(key))
		}
	})
	if before := lookup(c.into, "components", from[1], "dependsOn"); before != nil && before.Kind == yaml.SequenceNode {
		before.Content = append(before.Content, list.Content...) // both in spec and next to it
		return
	}
	c.say(from, []string{"components", from[1], "dependsOn"}, comments, list)
}

// onlyWhatIsThere removes dependencies on components that are neither in this project's chart nor enabled by the
// converted values.
func (c *conversion) onlyWhatIsThere() {
	converted := lookup(c.values, "components")
	if converted == nil {
		return
	}
	each(converted, func(name string, _, component *yaml.Node) {
		list := lookup(component, "dependsOn")
		if list == nil {
			return
		}
		list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool {
			enabled := lookup(converted, n.Value, "enabled")
			switch {
			case strings.Contains(n.Value, "{{"), slices.Contains(c.components(), n.Value):
				return false
			case lookup(converted, n.Value) == nil:
				c.leave("components."+name+".dependsOn", n.Value+" is no component here")
				return true
			case enabled == nil, enabled.Value == "false":
				c.leave("components."+name+".dependsOn", n.Value+" is not enabled here")
				return true
			}
			return false
		})
	})
}
