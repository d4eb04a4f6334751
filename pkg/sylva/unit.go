package sylva

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// unit converts a unit of the later form, sylva-units. Those that are components in this project can be enabled and
// disabled. All others are specific to Sylva.
func (c *conversion) unit(name string, _, value *yaml.Node) {
	if why := steps[name]; why != "" {
		c.leave("units."+name, why)
		return
	}
	ours := slices.Contains(c.components(), name)
	each(value, func(key string, comments, value *yaml.Node) {
		switch {
		case ours && key == "enabled":
			c.enabled([]string{"components", name, key}, comments, value)
		default:
			c.leave("units."+name+"."+key, "this project installs Cluster API, its providers and what you bring as "+
				"components: docs/guides/environment.md")
		}
	})
}

// repository converts another Git repository.
func (c *conversion) repository(field, name string, value *yaml.Node) {
	if slices.Contains(seedRepositories, name) {
		c.leave(field+"."+name, ownRepository)
		return
	}
	if kind := lookup(value, "kind"); kind != nil && kind.Value != "GitRepository" {
		c.leave(field+"."+name, "a repository is in Git here")
		return
	}
	if lookup(value, "spec", "url") == nil {
		c.leave(field+"."+name, "it has no spec.url: a repository is in Git here, and has url, base_url, ref and auth")
		return
	}
	each(value, func(key string, comments, value *yaml.Node) {
		path := []string{field, name, key}
		switch key {
		case "auth":
			c.say(path, []string{"git_repo_templates", name, key}, comments, value)
		case "kind":
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
