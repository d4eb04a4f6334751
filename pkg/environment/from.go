package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// The files of an environment that is based on another one without kustomize.
const (
	FromFile         = "environment.yaml"
	OwnValuesFile    = "values.yaml"
	OwnSecretsFile   = "secrets.yaml"
	mostEnvironments = 8 // that are based on each other
)

// fromFile is the content of FromFile.
type fromFile struct {
	From string `json:"from"` // a built-in environment, or a path relative to the folder
}

// readFrom reads the FromFile of a folder. False means the folder has none: it should be a kustomization.
func readFrom(folder, given string) (fromFile, bool, error) {
	var f fromFile
	name := filepath.Join(given, FromFile)
	content, err := kustomize.ReadBelow(filepath.Dir(folder), filepath.Join(folder, FromFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil
	}
	kustomization := kustomizationOf(folder)
	var document map[string]any
	if kustomization != "" && (err != nil || unpack.Unmarshal(content, &document) != nil || document["from"] == nil) {
		return f, false, nil // a user's own file that happens to have this name
	}
	if err == nil {
		_, err = onlyDocument(content)
	}
	if err == nil {
		err = yaml.UnmarshalStrict(content, &f)
	}
	switch {
	case err != nil:
		return f, true, fault.Wrap(fmt.Errorf("read %s: %w", name, err), fault.EnvironmentInvalid,
			"Write one line into it: from: ENVIRONMENT")
	case f.From == "":
		return f, true, fault.New(fault.EnvironmentInvalid, "read "+name+": from is empty",
			"Write one line: from: ENVIRONMENT")
	case kustomization != "":
		return f, true, fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s has both %s and %s", given, FromFile,
			kustomization),
			"Keep "+FromFile+" for values over those of another environment, or "+kustomization+
				" for a kustomization of your own.")
	}
	return f, true, nil
}

// kustomizationOf returns the name of a folder's kustomization file. Empty means it has none.
func kustomizationOf(folder string) string {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return name
		}
	}
	return ""
}

// inherit returns the name of the built-in environment below, and the values of the environment that a folder is based
// on, overridden by the folder's own.
func (f fromFile) inherit(options Options, s *substituter, folder string, depth int) (string, documents, error) {
	if depth >= mostEnvironments {
		return "", documents{}, fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s stands on %d others", options.Name,
			depth), "Correct `from` in "+FromFile+": it may lead back to itself.")
	}
	given := options.Name
	parent := options
	if parent.Name = f.From; isPath(f.From) && !filepath.IsAbs(f.From) {
		parent.Name = filepath.Join(folder, f.From) // by the real path, whatever links led there
	}
	_, builtOn, docs, err := buildAt(parent, s, depth+1)
	if err != nil {
		return "", documents{}, err
	}
	if !options.keepsSecrets(folder) {
		docs, err = s.valuesOnly(folder, given, docs)
		return builtOn, docs, err
	}
	values, valuesErr := s.own(folder, given, OwnValuesFile)
	secrets, secretsErr := s.own(folder, given, OwnSecretsFile)
	if err := fault.Join(valuesErr, secretsErr); err != nil {
		return "", documents{}, err
	}
	docs = docs.with(values)
	docs.infraSecrets = merge(docs.infraSecrets, secrets)
	return builtOn, docs, nil
}

// valuesOnly merges the values of another folder over docs, and withholds its secrets. It fills in no variables in the
// file of secrets.
func (s *substituter) valuesOnly(folder, given string, docs documents) (documents, error) {
	values, valuesErr := s.own(folder, given, OwnValuesFile)
	content, file, secretsErr := s.readOwn(folder, given, OwnSecretsFile)
	var secrets map[string]any
	if secretsErr == nil {
		secrets, secretsErr = onlyMap(file, content)
	}
	if err := fault.Join(valuesErr, secretsErr); err != nil {
		return documents{}, err
	}
	if values != nil {
		values = s.withhold(filepath.Join(given, OwnValuesFile), values, isSecret)
		s.layers[len(s.layers)-1].values = values
	}
	s.withhold(file.path, secrets, anySecret)
	return docs.with(values), nil
}

// own reads a file of values in the folder. A missing file has none.
func (s *substituter) own(folder, given, name string) (map[string]any, error) {
	content, file, err := s.readOwn(folder, given, name)
	if err != nil || content == nil {
		return nil, err
	}
	if content, err = s.process(file, content); err != nil {
		return nil, s.err()
	}
	return valuesIn(file, content)
}

// readOwn returns the content of a file in the folder. Nil means it does not exist.
func (s *substituter) readOwn(folder, given, name string) ([]byte, origin, error) {
	file := origin{path: filepath.Join(given, name)}
	content, err := kustomize.ReadBelow(filepath.Dir(folder), filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, file, nil
	}
	if err != nil {
		return nil, file, fault.Wrap(fmt.Errorf("read %s: %w", file, err), fault.EnvironmentInvalid, file.hint())
	}
	return content, file, nil
}

// onlyMap returns the values in a file without looking up variables.
func onlyMap(file origin, content []byte) (map[string]any, error) {
	if _, err := onlyDocument(content); err != nil {
		hint := cmp.Or(fault.HintOf(err), file.hint())
		return nil, fault.Wrap(fmt.Errorf("%s: %w", file, err), fault.EnvironmentInvalid, hint)
	}
	return valuesIn(file, content)
}

func valuesIn(file origin, content []byte) (map[string]any, error) {
	values, err := readValues(content)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("%s: %w", file, err), fault.EnvironmentInvalid, "Write a YAML map of values.")
	}
	return values, nil
}
