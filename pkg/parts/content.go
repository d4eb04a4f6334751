package parts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// componentsFolder is the content's folder with the kustomizations of the components.
const componentsFolder = "kustomize-components"

// remote matches the two kinds of addresses that kustomizations fetch manifests from: a file of a release, and a file
// at a tag of a repository.
var remote = regexp.MustCompile(
	`^https://(?:(github\.com)/([^/]+/[^/]+)/releases/download|raw\.githubusercontent\.com/([^/]+/[^/]+))/([^/]+)/`)

// FromContent returns what the components install, sorted by name: the releases that their kustomizations fetch, the
// images that these replace, and those in their own manifests. content has the folder kustomize-components at its root.
// An address with an unreadable version is an error: no part may be missing from the list unnoticed.
func FromContent(content fs.FS) ([]Part, error) {
	var found []Part
	err := fs.WalkDir(content, componentsFolder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(content, file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Dir(file), componentsFolder+"/")
		of, err := fromFile(name, text, path.Base(file) == "kustomization.yaml")
		if err != nil {
			return fmt.Errorf("read the versions in %s: %w", file, err)
		}
		found = append(found, of...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, compare)
	return slices.CompactFunc(found, func(a, b Part) bool { return compare(a, b) == 0 }), nil
}

func compare(a, b Part) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Origin, b.Origin),
		strings.Compare(a.Version, b.Version))
}

func fromFile(name string, text []byte, kustomization bool) ([]Part, error) {
	if kustomization {
		return fromKustomization(name, text)
	}
	var found []Part
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, images(name, document)...)
	}
}

func fromKustomization(name string, text []byte) ([]Part, error) {
	var file struct {
		Resources []string `yaml:"resources"`
		Images    []struct {
			Name    string `yaml:"name"`
			NewName string `yaml:"newName"`
			NewTag  string `yaml:"newTag"`
		} `yaml:"images"`
	}
	if err := unpack.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	var found []Part
	for _, resource := range file.Resources {
		if !strings.Contains(resource, "://") {
			continue
		}
		match := remote.FindStringSubmatch(resource)
		if match == nil {
			return nil, fmt.Errorf("%s: no version at the place where a release or a tag has it", resource)
		}
		found = append(found, Part{Name: name, Version: match[4], Origin: "github.com/" + match[2] + match[3]})
	}
	for _, image := range file.Images {
		found = append(found, Part{Name: name, Version: image.NewTag, Origin: cmp.Or(image.NewName, image.Name)})
	}
	return found, nil
}

// images finds the containers' images anywhere below a node. It omits one that begins with a variable: the environment
// chooses that.
func images(name string, node any) []Part {
	var found []Part
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if text, ok := value.(string); ok && key == "image" && !strings.HasPrefix(text, "$") {
				found = append(found, FromImage(name, text))
				continue
			}
			found = append(found, images(name, value)...)
		}
	case []any:
		for _, value := range node {
			found = append(found, images(name, value)...)
		}
	}
	return found
}
