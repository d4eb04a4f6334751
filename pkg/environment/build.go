package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
	"github.com/cluster-init/cluster-init/pkg/suggest"
)

// List returns the names of the environments in the content, sorted.
func List(content fs.FS) []string {
	folders, err := fs.ReadDir(content, environmentsFolder)
	if err != nil {
		return nil
	}
	var names []string
	for _, folder := range folders {
		// base is shared by the others, and no environment.
		if folder.IsDir() && folder.Name() != "base" {
			names = append(names, folder.Name())
		}
	}
	return names
}

// build returns the environment's name, the name for BuiltOn, and the values of its three objects: those that kustomize
// makes, or those of the environment that it is based on, overridden by its own.
func build(options Options, s *substituter) (name, builtOn string, docs documents, err error) {
	return buildAt(options, s, 0)
}

// buildAt is build for an environment that depth others are based on.
func buildAt(options Options, s *substituter, depth int) (name, builtOn string, docs documents, err error) {
	name, folder, files, err := locate(options)
	if err != nil {
		return "", "", documents{}, err
	}
	if isPath(options.Name) {
		options.root = cmp.Or(options.root, files.root)
		from, inherits, err := readFrom(folder, options.Name)
		if err != nil {
			return "", "", documents{}, err
		}
		if inherits {
			builtOn, docs, err = from.inherit(options, s, folder, depth)
			return name, builtOn, docs, err
		}
	}
	first := len(s.layers)
	docs, err = kustomized(name, folder, files, s)
	if err == nil && isPath(options.Name) && !options.keepsSecrets(folder) {
		docs = s.withoutOwnSecrets(filepath.Join(options.Name, kustomizationOf(folder)), first, docs)
	}
	return name, name, docs, err
}

// kustomized returns the values of the three objects that kustomize makes of a folder.
func kustomized(name, folder string, files overlay, s *substituter) (documents, error) {
	resources, err := kustomize.Build(kustomize.Options{Files: files, Folder: folder, Root: files.root,
		Read: files.read(s), Title: files.title,
		Missing: "An environment that stands on ../base finds it next to itself or in cluster-init."})
	var refused *fault.Fault
	if errors.As(err, &refused) {
		return documents{}, fault.Join(s.err(), err)
	}
	if err != nil && len(s.problems) > 0 { // then kustomize only repeats these problems in other words
		return documents{}, s.err()
	}
	if err != nil {
		shown := strings.ReplaceAll(err.Error(), embeddedRoot, "")
		return documents{}, fault.New(fault.EnvironmentInvalid, fmt.Sprintf("render environment %s: %s", name, shown),
			"Make the folder a kustomization, or write the file "+FromFile+
				". A kustomization of ../base finds it next to its folder or in cluster-init.")
	}
	docs, err := split(resources)
	if err != nil {
		return documents{}, fault.Wrap(fmt.Errorf("environment %s: %w", name, err), fault.EnvironmentInvalid,
			"an environment renders ConfigMap management-cluster-values, Secrets management-cluster-secrets and "+
				"management-cluster-infra-secrets, each with the key values.yaml, and nothing else")
	}
	return docs, nil
}

// locate finds the environment's folder and its file system.
func locate(options Options) (name, folder string, files overlay, err error) {
	if isPath(options.Name) {
		return locateOnDisk(options, files)
	}
	kustomization := path.Join(environmentsFolder, options.Name, "kustomization.yaml")
	if _, err := fs.Stat(options.Content, kustomization); options.Name == "" || options.Name == "base" || err != nil {
		return "", "", files, fault.New(fault.EnvironmentUnknown, fmt.Sprintf("there is no environment %q",
			options.Name),
			suggest.Hint(options.Name, List(options.Content), "")+
				fmt.Sprintf("environments: %s; for a folder of your own give its path, for example ./%s",
					strings.Join(List(options.Content), ", "), options.Name))
	}
	root := embeddedRoot + environmentsFolder
	files.root = root
	files.FileSystem, err = mount(options.Content, root)
	return options.Name, path.Join(root, options.Name), files, err
}

func locateOnDisk(options Options, files overlay) (name, folder string, _ overlay, err error) {
	folder, err = filepath.Abs(options.Name)
	if err == nil {
		// kustomize resolves links too: the neighboring folders are those of the real place.
		folder, err = filepath.EvalSymlinks(folder)
	}
	info, statErr := os.Stat(folder)
	if err != nil || statErr != nil || !info.IsDir() {
		return "", "", files, fault.New(fault.EnvironmentUnknown, fmt.Sprintf("there is no folder %s", options.Name),
			"environments without a path: "+strings.Join(List(options.Content), ", "))
	}
	files.FileSystem = kustomize.Disk()
	files.folder, files.given, files.root = folder, options.Name, filepath.Dir(folder)
	files.fallback, err = mount(options.Content, filepath.Dir(folder))
	return filepath.Base(folder), folder, files, err
}

// title is the name of an environment for its user.
func title(name string) string {
	if isPath(name) {
		return "environment " + name
	}
	return "built-in environment " + name
}

func isPath(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.HasPrefix(name, ".")
}

// split finds the three objects in kustomize's result. A missing Secret is empty.
func split(resources resmap.ResMap) (documents, error) {
	var docs documents
	for _, resource := range resources.Resources() {
		id := resource.GetKind() + " " + resource.GetName()
		var target *map[string]any
		switch id {
		case "ConfigMap " + ValuesName:
			target = &docs.values
		case "Secret " + SecretsName:
			target = &docs.secrets
		case "Secret " + InfraSecretsName:
			target = &docs.infraSecrets
		default:
			return docs, fmt.Errorf("it renders %s as well", id)
		}
		text, err := valuesOf(resource.GetKind(), resource.GetDataMap())
		if err != nil {
			return docs, fmt.Errorf("%s: %w", id, err)
		}
		parsed, err := readValues([]byte(text))
		if err != nil {
			return docs, fmt.Errorf("%s, key %s: %w", id, ValuesKey, err)
		}
		*target = parsed
	}
	if docs.values == nil {
		return docs, fmt.Errorf("it does not render ConfigMap %s", ValuesName)
	}
	return docs, nil
}
