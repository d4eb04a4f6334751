package kustomize

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// builtIn are the plugins of kustomize that read only the files in pluginFiles. Helm is not among them, nor plugins
// that load files in other ways.
var builtIn = []string{
	"AnnotationsTransformer", "ConfigMapGenerator", "HashTransformer", "IAMPolicyGenerator", "ImageTagTransformer",
	"LabelTransformer",
	"NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer", "PatchTransformer",
	"PrefixSuffixTransformer",
	"PrefixTransformer", "ReplacementTransformer", "ReplicaCountTransformer", "SecretGenerator", "SuffixTransformer",
}

// pluginFiles are the fields in which a built-in plugin names files, or contains YAML as text. They are read as the
// plugins read them.
type pluginFiles struct {
	types.KvPairSources `json:",inline"`

	Path         string                      `json:"path,omitempty"`
	Paths        []types.PatchStrategicMerge `json:"paths,omitempty"`
	Patch        string                      `json:"patch,omitempty"`
	Patches      string                      `json:"patches,omitempty"`
	JSONOp       string                      `json:"jsonOp,omitempty"`
	Replacements []types.ReplacementField    `json:"replacements,omitempty"`
}

// plugin checks a generator, a transformer or a validator: YAML, or a file with it. A folder is refused, since its
// result is known only after a build.
func (p place) plugin(field, entry string) {
	if !p.inline(field, entry) {
		return
	}
	configs, err := resources().NewResMapFromBytes([]byte(entry))
	title := p.file
	if err != nil { // then kustomize treats it as a path
		_, isFolder, ok := p.local(field, entry)
		if !ok {
			return
		}
		if isFolder {
			p.wrong(field, entry, "is a folder, where a file is wanted", "Name the files in it.")
			return
		}
		content, ok := p.copy(p.folder, entry, Other)
		if !ok {
			return
		}
		title, p.content = p.Title(p.folder.Join(entry)), content
		if configs, err = resources().NewResMapFromBytes(content); err != nil {
			p.refuse(fmt.Sprintf("read %s: %v", title, err), "Correct the file "+title+".")
			return
		}
	}
	p.file = title
	for _, config := range configs.Resources() {
		p.config(field, config)
	}
}

func (p place) config(field string, config *resource.Resource) {
	gvk := config.GetGvk()
	if gvk.Group != "" || gvk.Version != "builtin" || !slices.Contains(builtIn, gvk.Kind) || isFunction(config) {
		p.refuse(fmt.Sprintf("%s: %s: %s %s: cluster-init runs no plugin, no helm and no function", p.file, field,
			gvk.ApiVersion(), gvk.Kind),
			"Run it yourself, and name the files that it makes under `resources`.")
		return
	}
	var refs pluginFiles
	text, err := config.AsYAML()
	if err == nil {
		err = yaml.Unmarshal(text, &refs)
	}
	if err != nil {
		p.refuse(fmt.Sprintf("%s: %s %s: %v", p.file, field, gvk.Kind, err), "Correct the file "+p.file+".")
		return
	}
	switch gvk.Kind {
	case "ConfigMapGenerator", "SecretGenerator":
		p.generator(field, refs.KvPairSources)
	case "PatchTransformer":
		p.patches(field, []types.Patch{{Path: refs.Path, Patch: refs.Patch}})
	case "PatchJson6902Transformer":
		p.patches(field, []types.Patch{{Path: refs.Path, Patch: refs.JSONOp}})
	case "PatchStrategicMergeTransformer":
		p.inline(field, refs.Patches)
		for _, patch := range refs.Paths {
			p.inlineOrFile(field, string(patch))
		}
	case "ReplacementTransformer":
		p.replacements(field, refs.Replacements)
	}
}

// isFunction reports whether a configuration runs a container or a program.
func isFunction(config *resource.Resource) bool {
	for key := range config.GetAnnotations() {
		if strings.HasPrefix(key, "config.kubernetes.io/function") || strings.HasPrefix(key, "config.k8s.io/function") {
			return true
		}
	}
	return false
}
