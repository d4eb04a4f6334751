package kustomize

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// place is a kustomization file, or a file with the configuration of plugins, whose entries are checked.
type place struct {
	*walker
	folder  filesys.ConfirmedDir
	above   []filesys.ConfirmedDir // with folder at its end
	file    string                 // by the user's name
	content []byte
}

// checkKustomization checks every entry that kustomize would open. New fields of types.Kustomization belong here: a
// test counts its fields.
func (p place) checkKustomization(k types.Kustomization) {
	for _, entry := range k.Resources {
		p.fileOrFolder("resources", entry)
	}
	for _, entry := range k.Components {
		p.folderEntry("components", entry)
	}
	p.files("crds", Other, k.Crds...)
	p.files("configurations", Other, k.Configurations...)
	if path, there := k.OpenAPI["path"]; there {
		p.files("openapi", Other, path)
	}
	for _, patch := range k.PatchesStrategicMerge {
		p.inlineOrFile("patchesStrategicMerge", string(patch))
	}
	p.patches("patches", k.Patches)
	p.patches("patchesJson6902", k.PatchesJson6902)
	p.replacements("replacements", k.Replacements)
	for _, args := range k.ConfigMapGenerator {
		p.generator("configMapGenerator", args.KvPairSources)
	}
	for _, args := range k.SecretGenerator {
		p.generator("secretGenerator", args.KvPairSources)
	}
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		p.refuse(p.file+": helmCharts: cluster-init runs no helm for a kustomization",
			"Render the chart (helm template), and name the file under `resources`.")
	}
	for _, plugins := range []struct {
		field   string
		entries []string
	}{{"generators", k.Generators}, {"transformers", k.Transformers}, {"validators", k.Validators}} {
		for _, entry := range plugins.entries {
			p.plugin(plugins.field, entry)
		}
	}
}

func (p place) patches(field string, patches []types.Patch) {
	for _, patch := range patches {
		p.inline(field, patch.Patch)
		if patch.Path != "" {
			p.files(field, Other, patch.Path)
		}
	}
}

func (p place) replacements(field string, replacements []types.ReplacementField) {
	for _, replacement := range replacements {
		if replacement.Path != "" {
			p.files(field, Other, replacement.Path)
		}
	}
}

func (p place) generator(field string, sources types.KvPairSources) {
	for _, source := range sources.FileSources {
		if _, path, hasKey := strings.Cut(source, "="); hasKey { // KEY=PATH
			source = path
		}
		p.files(field, Values, source)
	}
	p.files(field, Values, sources.EnvSources...)
	if sources.EnvSource != "" {
		p.files(field, Values, sources.EnvSource)
	}
}

// inlineOrFile checks an entry that is either YAML or a path, which kustomize finds out by trying.
func (p place) inlineOrFile(field, entry string) {
	if !p.inline(field, entry) {
		return
	}
	if _, err := resources().RF().SliceFromBytes([]byte(entry)); err != nil {
		p.files(field, Other, entry)
	}
}

// inline reports whether an entry may be parsed as YAML. If not, the entry was refused.
func (p place) inline(field, entry string) bool {
	err := unpack.YAML([]byte(entry))
	if err != nil {
		p.refuse(fmt.Sprintf("%s: %s: %v", p.file, field, err), "Correct the file "+p.file+".")
	}
	return err == nil
}

// files checks entries that name files, and copies them.
func (p place) files(field string, role Role, entries ...string) {
	for _, entry := range entries {
		if _, isFolder, ok := p.local(field, entry); ok && isFolder {
			p.wrong(field, entry, "is a folder, where a file is wanted", "Name a file.")
		} else if ok {
			p.copy(p.folder, entry, role)
		}
	}
}

func (p place) folderEntry(field, entry string) {
	if folder, isFolder, ok := p.local(field, entry); ok && !isFolder {
		p.wrong(field, entry, "is a file, where a folder is wanted", "Name a folder with a kustomization.yaml.")
	} else if ok {
		p.enter(field, entry, folder)
	}
}

func (p place) fileOrFolder(field, entry string) {
	folder, isFolder, ok := p.local(field, entry)
	switch {
	case !ok:
	case isFolder:
		p.enter(field, entry, folder)
	default:
		p.copy(p.folder, entry, Other)
	}
}

// enter visits a folder. It refuses one that is, or contains, one of those above, as kustomize does.
func (p place) enter(field, entry string, folder filesys.ConfirmedDir) {
	for _, other := range p.above {
		if other.HasPrefix(folder) {
			p.wrong(field, entry, "leads back to "+p.Title(other.String()), "Take the entry out.")
			return
		}
	}
	p.visit(folder, p.above)
}

// local resolves an entry: folder is the entry itself, or the folder of a file. If it is not ok, the entry was refused.
func (p place) local(field, entry string) (folder filesys.ConfirmedDir, isFolder, ok bool) {
	switch {
	case remote(entry):
		p.wrong(field, entry, "is no local path, and cluster-init fetches nothing for a kustomization",
			fmt.Sprintf("Put a copy next to %s, and name the copy.", p.file))
		return "", false, false
	case entry == "" || filepath.IsAbs(entry):
		p.wrong(field, entry, "is no path relative to the kustomization",
			"Name a file or a folder by its path seen from "+p.file+".")
		return "", false, false
	}
	dir, base, err := p.Files.CleanedAbs(p.folder.Join(entry))
	switch {
	case err != nil && !within(p.root, p.folder.Join(entry)), err == nil && !dir.HasPrefix(p.root):
		p.wrong(field, entry, "leads out of "+p.Title(p.root.String()),
			fmt.Sprintf("Put a copy next to %s, and name the copy.", p.file))
		return "", false, false
	case err != nil:
		p.wrong(field, entry, "is neither a file nor a folder",
			strings.TrimSpace("Correct the path in "+p.file+". "+p.Missing))
		return "", false, false
	}
	return dir, base == "", true
}

func within(root filesys.ConfirmedDir, path string) bool {
	return filesys.ConfirmedDir(filepath.Clean(path)).HasPrefix(root)
}

// remote reports whether kustomize could interpret an entry as a URL or as a Git repository, even if a file of that
// name exists.
func remote(entry string) bool {
	first, _, _ := strings.Cut(entry, "/")
	return strings.Contains(entry, "://") || strings.ContainsAny(first, ":@") || strings.EqualFold(first, "github.com")
}

// wrong refuses an entry, with its file, line and field.
func (p place) wrong(field, entry, reason, hint string) {
	p.refuse(fmt.Sprintf("%s: %s%s: %q %s", p.file, p.line(entry), field, shown(entry), reason), hint)
}

// login matches the user and the password in a URL, also if the password is not encoded.
var login = regexp.MustCompile(`(?s)://.*@`)

// shown is an entry without the login of a URL. An entry of several lines is YAML that cannot be read: only its first
// line is shown, since it may contain a secret.
func shown(entry string) string {
	entry = login.ReplaceAllString(entry, "://***@")
	if first, _, more := strings.Cut(strings.TrimSpace(entry), "\n"); more {
		return first + " …"
	}
	return entry
}

// line is the position of an entry in the file. Empty means not known.
func (p place) line(entry string) string {
	var root yaml.Node
	if yaml.NewDecoder(bytes.NewReader(p.content)).Decode(&root) != nil {
		return ""
	}
	if at := lineOf(&root, entry); at > 0 {
		return fmt.Sprintf("line %d: ", at)
	}
	return ""
}

func lineOf(node *yaml.Node, entry string) int {
	if node.Kind == yaml.ScalarNode && (node.Value == entry || strings.HasSuffix(node.Value, "="+entry)) {
		return node.Line
	}
	for _, child := range node.Content {
		if at := lineOf(child, entry); at > 0 {
			return at
		}
	}
	return 0
}
