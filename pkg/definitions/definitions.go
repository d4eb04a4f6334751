// Package definitions reads what the chart must know about the cluster definitions in kustomize-components/cluster: it
// cannot read them itself.
package definitions

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// File is the chart's file with the definitions.
const File = "charts/telco-cloud-init/definitions.json"

const folder = "kustomize-components/cluster"

// Definition is what the chart knows about one definition.
type Definition struct {
	// Templates is the hash of the machine templates and of what kustomizations change. It is part of the templates'
	// names, because a template cannot change under its name.
	Templates string `json:"templates"`
	// Commands are the kinds with a list of commands, to which the chart adds.
	Commands []string `json:"commands,omitempty"`
	// Lists are all lists in the machines' configuration by kind, as paths below that configuration. The chart adds to
	// one that is there, and creates any other.
	Lists map[string][]string `json:"lists,omitempty"`

	hashOnly bool // from an earlier chart, which has only the hash
}

// UnmarshalJSON also accepts the form of earlier charts: the hash alone.
func (d *Definition) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &d.Templates) == nil {
		d.hashOnly = true
		return nil
	}
	type plain Definition
	return json.Unmarshal(text, (*plain)(d))
}

// Definitions maps the path of each definition, as in components.cluster.path, to the definition.
type Definitions map[string]Definition

// Of reads all definitions of content, the folder with charts and kustomize-components. A folder without templates is
// no definition.
func Of(content fs.FS) (Definitions, error) {
	folders, err := fs.ReadDir(content, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the cluster definitions: %w", err)
	}
	all := Definitions{}
	for _, entry := range folders {
		if !entry.IsDir() {
			continue
		}
		at := path.Join(folder, entry.Name())
		d, found, err := read(content, at)
		if err != nil {
			return nil, err
		}
		if found {
			all["./"+at] = d
		}
	}
	return all, nil
}

// read reads the definition in a folder of content. One without templates is no definition.
func read(content fs.FS, at string) (d Definition, found bool, err error) {
	r := reader{content: content, hash: sha256.New()}
	if err := r.folder(at); err != nil {
		return Definition{}, false, fmt.Errorf("read a cluster definition: %w", err)
	}
	var commands []string
	for _, kind := range slices.Sorted(maps.Keys(r.lists)) {
		slices.Sort(r.lists[kind])
		r.lists[kind] = slices.Compact(r.lists[kind])
		if slices.ContainsFunc(r.lists[kind], isCommands) {
			commands = append(commands, kind)
		}
	}
	templates := fmt.Sprintf("%x", r.hash.Sum(nil))[:16]
	return Definition{Templates: templates, Commands: commands, Lists: r.lists}, r.found, nil
}

// Encode returns the content of File.
func (d Definitions) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// Decode reads the content of File.
func Decode(text []byte) (Definitions, error) {
	var d Definitions
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read %s: %w", File, err)
	}
	return d, nil
}

// reader reads one definition.
type reader struct {
	content fs.FS
	hash    hash.Hash
	found   bool
	lists   map[string][]string
	seen    map[string]bool // targets outside of the folder that were read
}

func (r *reader) folder(at string) error {
	return fs.WalkDir(r.content, at, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isManifest(file) {
			return err
		}
		text, err := fs.ReadFile(r.content, file)
		if err != nil {
			return err
		}
		for _, document := range unpack.Documents(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			if err := r.document(at, file, []byte(document)); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		return nil
	})
}

func isManifest(file string) bool {
	return path.Ext(file) == ".yaml" || path.Ext(file) == ".yml" || path.Base(file) == "Kustomization"
}

// isRead reports whether this package may read a file of content.
func isRead(file string) bool { return file == File || isManifest(file) }

// document reads one object, a kustomization or a JSON patch. Comments do not change the hash.
func (r *reader) document(at, file string, text []byte) error {
	var document any
	if err := unpack.Unmarshal(text, &document); err != nil {
		return err
	}
	if patch, isList := document.([]any); isList && !isKustomization(file) {
		return r.add(patch) // it may change a template: only the kustomization says what it applies to
	}
	object, isMap := document.(map[string]any)
	if !isMap && document != nil {
		return errors.New("a document is neither an object nor a patch")
	}
	kind, _ := object["kind"].(string)
	if isKustomization(file) {
		return r.kustomization(at, file, object)
	}
	r.addLists(kind, object)
	if !strings.HasSuffix(kind, "Template") {
		return nil
	}
	r.found = true
	return r.add(object)
}

// addLists adds the lists of an object that configures machines.
func (r *reader) addLists(kind string, object map[string]any) {
	at, configures := map[string][]string{
		"KubeadmControlPlane": {"spec", "kubeadmConfigSpec"}, "KubeadmConfigTemplate": {"spec", "template", "spec"},
		"RKE2ControlPlane": {"spec"}, "RKE2ConfigTemplate": {"spec", "template", "spec"},
	}[kind]
	if !configures {
		return
	}
	if r.lists == nil {
		r.lists = map[string][]string{}
	}
	r.lists[kind] = append(r.lists[kind], listsOf(nested(object, at...), "")...)
}

// isCommands reports whether a list has the commands that machines run first.
func isCommands(list string) bool { return list == "preKubeadmCommands" || list == "preRKE2Commands" }

// listsOf returns the paths of all lists in an object, but not of those in lists.
func listsOf(object map[string]any, at string) []string {
	var lists []string
	for field, value := range object {
		switch value := value.(type) {
		case []any:
			lists = append(lists, path.Join(at, field))
		case map[string]any:
			lists = append(lists, listsOf(value, path.Join(at, field))...)
		}
	}
	return lists
}

func (r *reader) add(object any) error {
	canonical, err := json.Marshal(object)
	r.hash.Write(canonical)
	return err
}

func nested(object map[string]any, fields ...string) map[string]any {
	for _, field := range fields {
		object, _ = object[field].(map[string]any)
	}
	return object
}
