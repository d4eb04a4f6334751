package sylva

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// conversion is a running conversion.
type conversion struct {
	keys                      []environment.Key
	values, secrets           *yaml.Node
	into                      *yaml.Node        // one of the two: the target for values of this document
	now                       string            // this document
	by                        map[string]string // the document that set a value, by the value's name here
	bootstrap, infrastructure string            // the seed's names of the providers
	workerFlavor              bool              // whether this document has a flavor for workers alone
	said                      []Said
	left                      []Left
}

// named records the providers that a document requests: they determine the names of other keys.
func (c *conversion) named(d document) {
	for _, in := range [][]string{{"cluster"}, {"cluster", "flavor"}, {"cluster", "capi_providers"}} {
		if n := lookup(d.root, append(slices.Clone(in), "infra_provider")...); n != nil && n.Value != "" {
			c.infrastructure = n.Value
		}
		if n := lookup(d.root, append(slices.Clone(in), "bootstrap_provider")...); n != nil && n.Value != "" {
			c.bootstrap = n.Value
		}
	}
}

// same are the parts of a document with the same names in both projects.
var same = []string{"proxies", "git_auth_default", "registry_secret", "cni", "debug_values"}

func (c *conversion) document(root *yaml.Node) {
	c.pools(root)
	each(root, func(key string, comments, value *yaml.Node) {
		switch {
		case isEmpty(value):
		case key == "cluster":
			each(value, func(below string, comments, value *yaml.Node) {
				c.cluster([]string{"cluster", below}, comments,
					value)
			})
		case key == c.infrastructure: // next to cluster in the seed's first form, below it later
			each(value, func(below string, comments, value *yaml.Node) {
				c.cluster([]string{"cluster", key, below}, comments, value)
			})
		case key == "components":
			each(value, c.component)
		case key == "units":
			each(value, c.unit)
		case key == "git_repo_templates", key == "source_templates":
			each(value, func(name string, _, value *yaml.Node) { c.repository(key, name, value) })
		case key == "registry_mirrors", key == "dockerio_registry_mirror":
			c.mirrors(key, comments, value)
		case slices.Contains(same, key):
			c.say([]string{key}, []string{key}, comments, value)
		default:
			c.leave(key, "this project's chart has no such value")
		}
	})
}

// cluster converts a value below cluster, or those below it.
func (c *conversion) cluster(path []string, comments, value *yaml.Node) {
	key := strings.Join(path, ".")
	to, known := renamed[key]
	switch {
	case isEmpty(value):
	case key == "cluster.capo.clouds_yaml", key == "cluster.capo.cloud_yaml":
		c.clouds(path, comments, value)
	case key == "cluster.capo.cacert":
		c.encoded(path, []string{"cluster", "openstack", "cacert_b64"}, comments, value)
	case key == "cluster.image" && renamed["cluster."+c.infrastructure+".image"] != nil:
		c.say(path, strings.Split(renamed["cluster."+c.infrastructure+".image"][0], "."), comments, value)
	case key == "cluster.registry_mirrors" && value.Kind == yaml.MappingNode:
		c.mirrors(key, comments, value)
	case key == "cluster.machine_deployments": // see pools
	case known:
		for _, name := range to {
			if key == "cluster.capo.flavor_name" && c.workerFlavor && name == workerFlavor {
				continue
			}
			c.say(path, strings.Split(name, "."), comments, value)
		}
	case differs[key] != "":
		c.leave(key, differs[key])
	case c.has(key):
		c.say(path, path, comments, value)
	case value.Kind == yaml.MappingNode:
		each(value, func(below string, comments, value *yaml.Node) {
			c.cluster(append(slices.Clone(path), below), comments, value)
		})
	default:
		c.leave(key, "this project's chart has no such value")
	}
}

// has reports whether the chart has a key of this name without others below it.
func (c *conversion) has(path string) bool {
	return slices.ContainsFunc(c.keys, func(k environment.Key) bool { return k.Path == path && k.Type != "map" })
}

// say converts a value.
func (c *conversion) say(from, to []string, comments, value *yaml.Node) {
	key, as := strings.Join(from, "."), strings.Join(to, ".")
	if isTemplate(value) && to[0] != "components" {
		c.leave(key, "it is made by a template, which only components have here: write what it comes to as "+as)
		return
	}
	value = withoutNull(copied(value)) // it may be written in two places
	if isEmpty(value) && value.Kind != yaml.ScalarNode {
		return
	}
	for _, name := range braced(value) {
		c.leave(key, fmt.Sprintf("the variable %s is none that an environment may use, and stands as it is: use one "+
			"that is called CLUSTER_INIT_VAR_%s, or write its value", name, name))
	}
	if to[0] == "proxies" || as == "cluster.docker_host" {
		emptyIfUnset(value)
	}
	if pattern := c.misses(as, value); pattern != "" {
		c.leave(key, fmt.Sprintf("its value cannot be that of %s, which must match %s", as, pattern))
		return
	}
	if c.listed(as) && value.Kind == yaml.ScalarNode {
		value = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{value}}
	}
	by, said := c.by[as]
	into := c.into
	if secretIn(to, value) {
		into = c.secrets
	}
	if !put(into, to, comments, value) {
		if !said || by == c.now { // otherwise an overriding object sets it
			c.leave(key, "another value says "+as+" already")
		}
		return
	}
	c.by[as] = c.now
	if key != as {
		c.said = append(c.said, Said{Key: key, As: as})
	}
}

func (c *conversion) listed(path string) bool {
	return slices.ContainsFunc(c.keys, func(k environment.Key) bool {
		return k.Path == path &&
			strings.HasPrefix(k.Type, "list")
	})
}

func (c *conversion) leave(key, why string) { c.left = append(c.left, Left{Key: key, Why: why}) }

// clouds converts a clouds.yaml, which is a map or a text in the seed, and base64 here. It does not convert one with a
// null or a variable in it.
func (c *conversion) clouds(path []string, comments, value *yaml.Node) {
	content := value.Value
	if value.Kind != yaml.ScalarNode {
		written, err := encode(value)
		if err != nil {
			c.leave(strings.Join(path, "."), err.Error())
			return
		}
		content = string(written)
	}
	if at := emptyIn(value, nil); at != nil {
		c.leave(strings.Join(append(slices.Clone(path), at...), "."), "it is empty: complete the folder's clouds.yaml "+
			"and convert again, or set OS_CLOUD and have a clouds.yaml where OpenStack's tools look")
		return
	}
	var root yaml.Node
	if unpack.YAML([]byte(content)) == nil && yaml.Unmarshal([]byte(content), &root) == nil && len(root.Content) > 0 {
		if clouds := lookup(root.Content[0], "clouds"); clouds != nil && len(clouds.Content) == 2 &&
			!variable.MatchString(content) {
			c.say(append(slices.Clone(path), "clouds"), []string{"cluster", "openstack", "cloud_name"}, nil,
				text(clouds.Content[0].Value))
		}
	}
	c.encoded(path, []string{"cluster", "openstack", "clouds_yaml_b64"}, comments, text(content))
}

// onlyItsCloud sets an empty CA if the folder's cloud has none: it would otherwise get that of the shell's cloud.
func (c *conversion) onlyItsCloud() {
	const ca = "cluster.openstack.cacert_b64"
	if _, own := c.by["cluster.openstack.clouds_yaml_b64"]; own && c.by[ca] == "" {
		put(c.secrets, strings.Split(ca, "."), nil, text(""))
	}
}

// encoded converts a text to base64, which would hide a variable: a text with one is not converted.
func (c *conversion) encoded(from, to []string, comments, value *yaml.Node) {
	if variable.MatchString(value.Value) {
		c.leave(strings.Join(from, "."), "there are variables in it, which could not be seen in base64: export the "+
			"shell's OS_* as before, or set OS_CLOUD and have a clouds.yaml where OpenStack's tools look")
		return
	}
	c.say(from, to, comments, text(base64.StdEncoding.EncodeToString([]byte(value.Value))))
}

// secretIn reports whether a value, or one in the maps below it, has the name of a secret. A proxy's address is secret
// only if it contains a login.
func secretIn(path []string, value *yaml.Node) bool {
	if path[0] == "proxies" {
		return holdsPassword(value)
	}
	if environment.Secret(path[len(path)-1]) {
		return true
	}
	found := false
	each(value, func(key string, _, value *yaml.Node) { found = found || secretIn([]string{path[0], key}, value) })
	return found
}

// holdsPassword reports whether an address may contain a login: it has an @.
func holdsPassword(value *yaml.Node) bool {
	if value.Kind == yaml.ScalarNode {
		return strings.Contains(value.Value, "@")
	}
	return slices.ContainsFunc(value.Content, holdsPassword)
}
