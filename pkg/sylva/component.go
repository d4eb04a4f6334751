package sylva

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// steps are the seed's components that are phases of a run here.
var steps = map[string]string{
	"pivot":                      "the pivot is a phase of `up`, which plans, checks and verifies it: cluster-init pivot plan",
	"management-cluster-configs": "`up` gives the management cluster its values",
}

// seedRepositories are the names under which the seed's components find the seed's own repository.
var seedRepositories = []string{"capi-bootstrap", "cluster-init", "telco-cloud-init", "sylva-core"}

const ownRepository = "here that is the source: --source git --source-url URL, with the folders that the components name"

// component converts one component.
func (c *conversion) component(name string, comments, value *yaml.Node) {
	from := "components." + name
	if why := steps[name]; why != "" {
		c.leave(from, why)
		return
	}
	spec := lookup(value, "kustomization_spec")
	if !slices.Contains(c.components(), name) && (spec == nil || lookup(spec, "path") == nil) && lookup(value, "path") == nil {
		c.leave(from, "this project's chart has no such component, and no kustomization_spec.path says where its folder is")
		return
	}
	at := func(names ...string) []string { return append([]string{"components", name}, names...) }
	each(value, func(key string, comments, value *yaml.Node) {
		switch key {
		case "enabled":
			c.enabled(at(key), comments, value)
		case "kustomization_spec":
			c.spec(name, value)
		case "depends_on":
			c.dependencies(name, comments, value)
		case "repo":
			if !slices.Contains(seedRepositories, value.Value) {
				c.say(at(key), at(key), comments, value)
			}
		case "helmrelease_spec", "helm_repo_url", "helm_secret_values":
			c.leave(strings.Join(at(key), "."), "a component is a Kustomization here: put a HelmRelease into its folder")
		case "kustomization_substitute_secrets":
			c.leave(strings.Join(at(key), "."), "put the variables into a Secret of yours, and name it in components."+name+".spec.postBuild.substituteFrom")
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

// enabled takes over whether a component is there; the seed's YAML has words for it, too.
func (c *conversion) enabled(path []string, comments, value *yaml.Node) {
	words := map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
	word, known := words[strings.ToLower(value.Value)]
	if !known {
		c.leave(strings.Join(path, "."), "it is made by a template: write true, false, bootstrap-only or management-only")
		return
	}
	c.say(path, path, comments, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: word})
}

// spec converts a component's part of a Kustomization's spec: two of its fields have names of their own here.
func (c *conversion) spec(name string, spec *yaml.Node) {
	each(spec, func(key string, comments, value *yaml.Node) {
		from := []string{"components", name, "kustomization_spec", key}
		switch key {
		case "path":
			c.say(from, []string{"components", name, "path"}, comments, value)
		case "sourceRef":
			c.leave(strings.Join(from, "."), ownRepository)
		case "postBuild":
			each(value, func(below string, comments, value *yaml.Node) {
				to := []string{"components", name, "spec", key, below}
				if below == "substitute" {
					to = []string{"components", name, "substitute"}
				}
				c.say(append(slices.Clone(from), below), to, comments, value)
			})
		default:
			c.say(from, []string{"components", name, "spec", key}, comments, value)
		}
	})
}

// dependencies are a list of {name: NAME} in the seed, or a map of names to true.
func (c *conversion) dependencies(name string, comments, value *yaml.Node) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, entry := range value.Content {
		if n := lookup(entry, "name"); value.Kind == yaml.SequenceNode && n != nil {
			list.Content = append(list.Content, n)
		}
	}
	each(value, func(key string, _, value *yaml.Node) {
		if value.Value == "true" {
			list.Content = append(list.Content, text(key))
		}
	})
	c.say([]string{"components", name, "depends_on"}, []string{"components", name, "dependsOn"}, comments, list)
}

// repository converts another Git repository.
func (c *conversion) repository(name string, comments, value *yaml.Node) {
	if slices.Contains(seedRepositories, name) {
		c.leave("git_repo_templates."+name, ownRepository)
		return
	}
	each(value, func(key string, comments, value *yaml.Node) {
		path := []string{"git_repo_templates", name, key}
		switch key {
		case "auth":
			c.say(path, path, comments, value)
		case "spec":
			each(value, func(below string, comments, value *yaml.Node) {
				from := append(slices.Clone(path), below)
				if below != "url" && below != "ref" {
					c.leave(strings.Join(from, "."), "a repository has url, base_url, ref and auth here")
					return
				}
				c.say(from, []string{"git_repo_templates", name, below}, comments, value)
			})
		default:
			c.leave(strings.Join(path, "."), "a repository has url, base_url, ref and auth here")
		}
	})
}
