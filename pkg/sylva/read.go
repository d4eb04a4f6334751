package sylva

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// document is one of the objects with values.
type document struct {
	name   string // for people: Kind name, key
	secret bool
	root   *yaml.Node // a map; nil: the text is empty
	twice  []string   // dotted paths of duplicate keys
}

// reference names a text of an object.
type reference struct{ kind, name, key string }

func (r reference) String() string { return fmt.Sprintf("%s %s, key %s", r.kind, r.name, r.key) }

// order begins with the object that wins, unless a HelmRelease says otherwise. The objects sylva-units-* are those of
// the seed's later form.
var order = []reference{
	{"Secret", environment.InfraSecretsName, "infra-secrets"},
	{"Secret", environment.InfraSecretsName, environment.ValuesKey},
	{"Secret", environment.SecretsName, "secrets"},
	{"Secret", environment.SecretsName, environment.ValuesKey},
	{"Secret", "sylva-units-secrets", "secrets"},
	{"ConfigMap", environment.ValuesName, "values"},
	{"ConfigMap", environment.ValuesName, environment.ValuesKey},
	{"ConfigMap", "sylva-units-values", "values"},
}

// read builds the folder and returns the values in it, the winning text first. Left are other objects and duplicate
// keys.
func read(folder string) ([]document, []Left, error) {
	absolute, err := filepath.Abs(folder)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute) // the neighboring folders are those of the real place
	}
	if info, statErr := os.Stat(absolute); err != nil || statErr != nil || !info.IsDir() {
		return nil, nil, fault.New(fault.EnvironmentUnknown, "there is no folder "+folder,
			"Name a folder of the original telco-cloud-init's environment-values, or your copy of one.")
	}
	resources, err := kustomize.Build(kustomize.Options{Files: kustomize.Disk(), Folder: absolute,
		Root: rootOf(absolute), Title: seenFrom(folder, absolute)})
	var refused *fault.Fault
	if errors.As(err, &refused) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fault.Wrap(fmt.Errorf("build %s: %w", folder, err), fault.EnvironmentInvalid,
			"kubectl kustomize "+oneline.Shell(folder)+" must work: an environment of the original telco-cloud-init "+
				"is a kustomization.")
	}
	found, err := gather(resources)
	if err != nil {
		return nil, nil, fault.Wrap(fmt.Errorf("%s: %w", folder, err), fault.EnvironmentInvalid, "Correct the object.")
	}
	var documents []document
	values, left := found.inOrder()
	for _, ref := range values {
		d, err := parse(ref.String(), ref.kind == "Secret", found.texts[ref])
		var encrypted sopsError
		if errors.As(err, &encrypted) {
			return nil, nil, fault.Wrap(fmt.Errorf("%s: %w", folder, err), fault.EnvironmentInvalid,
				"Decrypt the file in a copy of the folder (sops --decrypt --in-place FILE), and convert the copy.")
		}
		if err != nil {
			return nil, nil, fault.Wrap(fmt.Errorf("%s: %w", folder, err), fault.EnvironmentInvalid,
				"It must be a YAML map of values.")
		}
		if d.root != nil {
			documents = append(documents, d)
		}
		for _, key := range d.twice {
			left = append(left, Left{Key: ref.String() + ": " + key,
				Why: "it stands there twice: the last one was taken, as Helm takes it"})
		}
	}
	if len(documents) == 0 {
		return nil, nil, fault.New(fault.EnvironmentInvalid,
			fmt.Sprintf("%s renders no ConfigMap %s (or sylva-units-values) with the key values", folder,
				environment.ValuesName),
			"Is it an environment of the original telco-cloud-init? It has a kustomization.yaml, a values.yaml and a "+
				"secrets.yaml.")
	}
	return documents, left, nil
}

// rootOf returns the folder that contains the kustomization and everything that it names: the seed's repository, or
// else the folder above.
func rootOf(folder string) string {
	for dir := filepath.Dir(folder); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "environment-values" {
			return filepath.Dir(dir)
		}
	}
	return filepath.Dir(folder)
}

// seenFrom returns the user's name of a path: it begins with the folder as it was given.
func seenFrom(given, folder string) func(string) string {
	return func(path string) string {
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return path
		}
		return filepath.Join(given, relative)
	}
}

// sopsError reports an encrypted document.
type sopsError struct{ name string }

func (e sopsError) Error() string { return e.name + ": it is encrypted with SOPS" }

// parse reads one text of an object.
func parse(name string, secret bool, text string) (document, error) {
	d := document{name: name, secret: secret}
	// The parser's error repeats what it has read, which may be secret.
	wrong := func(err error) error {
		if secret {
			err = errors.New("it is no YAML map of values")
		}
		return fmt.Errorf("%s: %w", d.name, err)
	}
	roots, err := documentsOf(text)
	if err != nil {
		return d, wrong(err)
	}
	switch len(roots) {
	case 0:
		return d, nil
	case 1:
		d.root = roots[0]
	default:
		return d, fmt.Errorf("%s: it has %d documents, but only one is allowed", d.name, len(roots))
	}
	if d.root.Kind != yaml.MappingNode {
		return d, fmt.Errorf("%s: %w", d.name, errors.New("it is no map"))
	}
	if isCiphertext(d.root) {
		return d, sopsError{d.name}
	}
	d.twice = lastOfEach(d.root, nil)
	if err := plain(d.root); err != nil {
		return d, wrong(err)
	}
	return d, nil
}

// documentsOf returns the documents in a YAML text, without empty ones.
func documentsOf(text string) ([]*yaml.Node, error) {
	if err := unpack.YAML([]byte(text)); err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var roots []*yaml.Node
	for {
		var root yaml.Node
		if err := decoder.Decode(&root); err != nil {
			if isEnd(err) {
				return roots, nil
			}
			return nil, err
		}
		if root.Kind != 0 && len(root.Content) > 0 && root.Content[0].Tag != "!!null" {
			roots = append(roots, root.Content[0])
		}
	}
}

// isCiphertext reports whether SOPS has encrypted a value in a document.
func isCiphertext(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return strings.HasPrefix(n.Value, "ENC[AES256_GCM,")
	}
	return slices.ContainsFunc(n.Content, isCiphertext)
}

// lastOfEach keeps the last of several entries with the same key, and returns their dotted paths: the seed's chart
// treated them so.
func lastOfEach(n *yaml.Node, path []string) (twice []string) {
	if n.Kind != yaml.MappingNode {
		for _, below := range n.Content {
			twice = append(twice, lastOfEach(below, path)...)
		}
		return twice
	}
	at := map[string]int{}
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		here := append(slices.Clone(path), key.Value)
		if before, there := at[key.Value]; there && key.Kind == yaml.ScalarNode {
			kept[before+1] = value
			twice = append(twice, strings.Join(here, "."))
		} else {
			at[key.Value] = len(kept)
			kept = append(kept, key, value)
		}
		twice = append(twice, lastOfEach(value, here)...)
	}
	n.Content = kept
	return twice
}

// plain refuses what is not a map of values, and resolves aliases: the conversion may move one to another document than
// its anchor. A document with aliases loses its comments.
func plain(root *yaml.Node) error {
	var values map[string]any
	if err := root.Decode(&values); err != nil || !hasAlias(root) {
		return err
	}
	return root.Encode(values)
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}
