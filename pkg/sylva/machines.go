package sylva

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// pools converts the worker pool of the later form. It converts none of several: a person knows which one is the pool
// `workers`, and must have its name.
func (c *conversion) pools(root *yaml.Node) {
	c.workerFlavor = slices.ContainsFunc([]string{"capo.worker_flavor", "capo.worker_flavor_name",
		"machine_deployment_default.capo.flavor_name"},
		func(path string) bool {
			n := lookup(root, append([]string{"cluster"}, strings.Split(path, ".")...)...)
			return n != nil && !isEmpty(n)
		})
	pools := lookup(root, "cluster", "machine_deployments")
	if pools == nil || pools.Kind != yaml.MappingNode || len(pools.Content) == 0 {
		return
	}
	if len(pools.Content) > 2 {
		c.leave("cluster.machine_deployments",
			fmt.Sprintf("it has %d pools of workers: write one as cluster.worker, and the others as "+
				"cluster.workers.NAME", len(pools.Content)/2))
		return
	}
	each(pools, func(name string, _, pool *yaml.Node) {
		c.pool([]string{"cluster", "machine_deployments", name}, nil, pool)
	})
}

// pool converts values of a worker pool. path leads to the pool, below from there to value.
func (c *conversion) pool(path, below []string, value *yaml.Node) {
	each(value, func(key string, comments, value *yaml.Node) {
		below := append(slices.Clone(below), key)
		from := append(slices.Clone(path), below...)
		to, known := inPool[strings.Join(below, ".")]
		switch {
		case isEmpty(value):
		case known:
			c.workerFlavor = c.workerFlavor || to == workerFlavor
			c.say(from, strings.Split(to, "."), comments, value)
		case value.Kind == yaml.MappingNode:
			c.pool(path, below, value)
		default:
			c.leave(strings.Join(from, "."), "this project's chart has no such value")
		}
	})
}

// mirrors converts registry mirrors: a list for each host, of which the first is used, or one address for docker.io.
func (c *conversion) mirrors(from string, comments, value *yaml.Node) {
	hosts, settings := value, lookup(value, "default_settings")
	if below := lookup(value, "hosts_config"); below != nil {
		hosts = below
	}
	if value.Kind == yaml.ScalarNode {
		hosts = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("docker.io"), value}}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	each(hosts, func(host string, _, value *yaml.Node) {
		if host == "default_settings" {
			return
		}
		entries := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			entries = value.Content
		} else if endpoints := lookup(value, "endpoint"); endpoints != nil {
			entries = endpoints.Content
		}
		for i, entry := range entries {
			at := fmt.Sprintf("%s.%s", from, host)
			url := entry
			if entry.Kind == yaml.MappingNode {
				url = lookup(entry, "mirror_url")
			}
			switch {
			case url == nil || url.Kind != yaml.ScalarNode || isEmpty(url):
				c.leave(at, "no address of a mirror is in it: write it as cluster.registry_mirrors, a list of host "+
					"and url")
			case i > 0:
				c.leave(at, fmt.Sprintf("a host has one mirror here, and %s is the %d. one", url.Value, i+1))
			default:
				list.Content = append(list.Content, mirror(host, url, entry, lookup(entry, "registry_settings"),
					settings))
			}
		}
	})
	if len(list.Content) > 0 {
		c.say(strings.Split(from, "."), []string{"cluster", "registry_mirrors"}, comments, list)
	}
}

// mirror is an entry of this project's list. The first setting with a value wins.
func mirror(host string, url *yaml.Node, settings ...*yaml.Node) *yaml.Node {
	m := newMap()
	put(m, []string{"host"}, nil, text(host))
	put(m, []string{"url"}, nil, copied(url))
	for _, name := range []string{"override_path", "skip_verify"} {
		for _, from := range settings {
			if from == nil {
				continue
			}
			if value := lookup(from, name); value != nil && !isEmpty(value) {
				put(m, []string{name}, nil, copied(value))
				break
			}
		}
	}
	return m
}

// misses returns the pattern of the value at path if a text does not match it. Empty means the text matches, or is not
// checked.
func (c *conversion) misses(path string, value *yaml.Node) string {
	for _, k := range c.keys {
		if k.Path != path || k.Pattern == "" || value.Kind != yaml.ScalarNode || strings.Contains(value.Value, "${") {
			continue
		}
		if pattern, err := regexp.Compile(k.Pattern); err == nil && !pattern.MatchString(value.Value) {
			return k.Pattern
		}
	}
	return ""
}
