// Package sylva converts an environment of the original telco-cloud-init (Sylva) with its bootstrap.sh or its later
// form (sylva-units) into this project's values. It lists what it cannot convert, with what to do.
package sylva

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Converted is an environment with this project's values.
type Converted struct {
	From    string // its built-in base environment
	Name    string // of the cluster
	Values  []byte // a YAML map, with its author's comments; nil: none
	Secrets []byte // the same, for secrets; nil: none
	Said    []Said
	Left    []Left // what was not converted, or must be checked
}

// Said is a converted value that has another name here.
type Said struct {
	Key string `json:"key"` // the seed's name
	As  string `json:"as"`  // this project's name
}

// Left is something that was not converted, or that the user should check.
type Left struct {
	Key string `json:"key"`
	Why string `json:"why"` // and what to do
}

// Convert reads the folder of an environment. known are the built-in environments, keys those of this project's chart,
// name is the cluster's. If name is empty, the folder's name of the cluster is used, or else otherwise. Variables that
// an environment may use keep their names, with braces. Errors have the codes fault.EnvironmentUnknown, for a missing
// folder, and fault.EnvironmentInvalid.
func Convert(folder, name, otherwise string, known []string, keys []environment.Key) (Converted, error) {
	read, left, err := read(folder)
	if err != nil {
		return Converted{}, err
	}
	c := conversion{keys: keys, values: newMap(), secrets: newMap(), by: map[string]string{}, left: left}
	for _, document := range slices.Backward(read) {
		c.named(document)
	}
	for _, document := range read {
		c.into, c.now = c.values, document.name
		if document.secret {
			c.into = c.secrets
		}
		c.document(document.root)
	}
	c.onlyItsCloud()
	c.onlyWhatIsThere()
	from, err := c.from(known)
	if err != nil {
		return Converted{}, err
	}
	out := Converted{From: from, Name: c.name(name, otherwise), Said: c.said, Left: c.left}
	for _, each := range []struct {
		from *yaml.Node
		to   *[]byte
	}{{c.values, &out.Values}, {c.secrets, &out.Secrets}} {
		if len(each.from.Content) == 0 {
			continue
		}
		if *each.to, err = encode(each.from); err != nil {
			return Converted{}, fmt.Errorf("write what %s comes to: %w", folder, err)
		}
	}
	return out, nil
}

// from is the built-in environment with the same providers.
func (c *conversion) from(known []string) (string, error) {
	if c.bootstrap == "" || c.infrastructure == "" {
		return "", fault.New(fault.EnvironmentInvalid, "the folder does not say which providers it is for",
			"Set cluster.flavor.infra_provider (capd or capo) and cluster.flavor.bootstrap_provider (cabpk or cabpr) "+
				"in its values.yaml, as the original telco-cloud-init's chart does in its own.")
	}
	bootstraps := map[string]string{"cabpk": "kubeadm", "kubeadm": "kubeadm", "cabpr": "rke2", "rke2": "rke2"}
	from := bootstraps[c.bootstrap] + "-" + c.infrastructure
	if !slices.Contains(known, from) {
		return "", fault.New(fault.EnvironmentInvalid,
			fmt.Sprintf("there is no environment for bootstrap provider %q with infrastructure provider %q",
				c.bootstrap, c.infrastructure),
			"Environments: "+strings.Join(known, ", ")+". cabpk is kubeadm, and cabpr is rke2.")
	}
	return from, nil
}

// name sets the cluster's name: the wanted one, or else that of the folder, or else another.
func (c *conversion) name(wanted, otherwise string) string {
	there := lookup(c.values, "cluster", "name")
	switch {
	case there == nil && wanted == "":
		wanted = otherwise
	case there != nil && wanted == "":
		return there.Value
	case there != nil:
		there.Value = wanted
		return wanted
	}
	put(c.values, []string{"cluster", "name"}, nil, &yaml.Node{Kind: yaml.ScalarNode, Value: wanted})
	return wanted
}
