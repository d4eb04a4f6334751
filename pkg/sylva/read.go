package sylva

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
)

// document is one of the objects that carry values.
type document struct {
	name   string // for people: Kind name, key
	secret bool
	root   *yaml.Node // a map
}

// order begins with the object that wins, with the key that the seed project uses in each.
var order = []struct{ name, key string }{
	{environment.InfraSecretsName, "infra-secrets"},
	{environment.SecretsName, "secrets"},
	{environment.ValuesName, "values"},
}

// read builds the folder, as `kubectl kustomize` does, and returns the values in it, the object that wins first.
func read(folder string) ([]document, error) {
	absolute, err := filepath.Abs(folder)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute) // the folders next to it are those of the real place
	}
	if info, statErr := os.Stat(absolute); err != nil || statErr != nil || !info.IsDir() {
		return nil, fault.New(fault.EnvironmentUnknown, "there is no folder "+folder, "Name a folder of the seed project's environment-values, or your copy of one.")
	}
	resources, err := kustomize.Build(kustomize.Options{Files: kustomize.Disk(), Folder: absolute, Root: filepath.Dir(absolute), Title: seenFrom(folder, absolute)})
	var refused *fault.Fault
	if errors.As(err, &refused) {
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("build %s: %w", folder, err), fault.EnvironmentInvalid, "kubectl kustomize "+folder+" must work: an environment of the seed project is a kustomization.")
	}
	found := map[string]document{}
	for _, resource := range resources.Resources() {
		id := resource.GetKind() + " " + resource.GetName()
		for key, text := range resource.GetDataMap() {
			d, err := parse(id, key, resource.GetKind() == "Secret", text)
			if err != nil {
				return nil, fault.Wrap(fmt.Errorf("%s: %w", folder, err), fault.EnvironmentInvalid, "It must be a YAML map of values.")
			}
			if d.root != nil {
				found[withoutHash(resource.GetName())+" "+key] = d
			}
		}
	}
	var read []document
	for _, each := range order {
		for _, key := range []string{each.key, environment.ValuesKey} {
			if d, there := found[each.name+" "+key]; there {
				read = append(read, d)
				delete(found, each.name+" "+key)
			}
		}
	}
	if len(read) == 0 {
		return nil, fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s renders no ConfigMap %s with the key values", folder, environment.ValuesName),
			"Is it an environment of the seed project? It has a kustomization.yaml, a values.yaml and a secrets.yaml.")
	}
	for name := range found {
		return nil, fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s renders %s as well", folder, name), "Take it out of the kustomization, and bring it as a component of your own: docs/environments.md.")
	}
	return read, nil
}

// seenFrom returns how the user knows a path: as one that begins with the folder as it was given.
func seenFrom(given, folder string) func(string) string {
	return func(path string) string {
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return path
		}
		return filepath.Join(given, relative)
	}
}

// withoutHash is the name of a generated object without what kustomize adds to it.
func withoutHash(name string) string {
	for _, each := range order {
		if rest, is := strings.CutPrefix(name, each.name+"-"); is && len(rest) == 10 && !strings.Contains(rest, "-") {
			return each.name
		}
	}
	return name
}

// parse reads one text of an object; one that is empty has no root.
func parse(id, key string, secret bool, text string) (document, error) {
	d := document{name: id + ", key " + key, secret: secret}
	if secret {
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return d, fmt.Errorf("%s: %w", d.name, err)
		}
		text = string(decoded)
	}
	// The parser's own words repeat what it has read, which may be secret.
	wrong := func(err error) error {
		if secret {
			err = errors.New("it is no YAML map of values")
		}
		return fmt.Errorf("%s: %w", d.name, err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return d, wrong(err)
	}
	if root.Kind == 0 || len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return d, nil
	}
	d.root = root.Content[0]
	if d.root.Kind != yaml.MappingNode {
		return d, fmt.Errorf("%s: %w", d.name, errors.New("it is no map"))
	}
	if err := plain(d.root); err != nil {
		return d, wrong(err)
	}
	return d, nil
}

// plain refuses what is no map of values, as one with a key twice, and resolves anchors where a document has any: what they stand for may go to another
// place than they do.
func plain(root *yaml.Node) error {
	var values map[string]any
	if err := root.Decode(&values); err != nil || !hasAlias(root) {
		return err
	}
	return root.Encode(values)
}

func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		return true
	}
	for _, below := range n.Content {
		if hasAlias(below) {
			return true
		}
	}
	return false
}
