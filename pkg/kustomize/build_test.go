package kustomize_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
)

// outside watches for what a build must never do: ask a server, or run a program.
type outside struct {
	url, marker string
	asked       *atomic.Int32
}

func watch(t *testing.T) outside {
	t.Helper()
	o := outside{marker: filepath.Join(t.TempDir(), "ran"), asked: &atomic.Int32{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o.asked.Add(1)
		_, _ = fmt.Fprint(w, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: remote}\n")
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	programs := t.TempDir()
	for _, name := range []string{"git", "helm", "docker"} {
		script := "#!/bin/sh\necho " + name + " \"$@\" >> " + o.marker + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	return o
}

func (o outside) check(t *testing.T) {
	t.Helper()
	if n := o.asked.Load(); n > 0 {
		t.Errorf("a server was asked %d times", n)
	}
	if ran, err := os.ReadFile(o.marker); err == nil {
		t.Errorf("a program ran: %s", ran)
	}
}

// tree writes files below a new folder, whose environment is in env.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func build(root string) (string, error) {
	built, err := kustomize.Build(kustomize.Options{Files: kustomize.Disk(), Folder: filepath.Join(root, "env"),
		Root:  root,
		Title: func(path string) string { return strings.TrimPrefix(path, root+"/") }})
	if err != nil {
		return "", err
	}
	text, err := built.AsYaml()
	return string(text), err
}

const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"

// The entries of every field are refused when they are not local, in every name that the file may have, in the folder
// itself and in one that it names.
func TestRemoteEntriesAreRefused(t *testing.T) {
	o := watch(t)
	option := "file:///nonexistent?ref=--upload-pack=id%20>%20" + o.marker + "%20%23"
	fields := map[string]string{
		"resources":                   `resources: ["ENTRY"]`,
		"resources, other case":       `Resources: ["ENTRY"]`,
		"bases":                       `bases: ["ENTRY"]`,
		"components":                  `components: ["ENTRY"]`,
		"generators":                  `generators: ["ENTRY"]`,
		"transformers":                `transformers: ["ENTRY"]`,
		"validators":                  `validators: ["ENTRY"]`,
		"crds":                        `crds: ["ENTRY"]`,
		"configurations":              `configurations: ["ENTRY"]`,
		"openapi":                     `openapi: {path: "ENTRY"}`,
		"patches":                     `patches: [{path: "ENTRY"}]`,
		"patchesJson6902":             `patchesJson6902: [{path: "ENTRY", target: {kind: ConfigMap, name: a, version: v1}}]`,
		"patchesStrategicMerge":       `patchesStrategicMerge: ["ENTRY"]`,
		"replacements":                `replacements: [{path: "ENTRY"}]`,
		"configMapGenerator files":    `configMapGenerator: [{name: g, files: ["ENTRY"]}]`,
		"configMapGenerator key":      `configMapGenerator: [{name: g, files: ["a=ENTRY"]}]`,
		"configMapGenerator envs":     `configMapGenerator: [{name: g, envs: ["ENTRY"]}]`,
		"configMapGenerator env":      `configMapGenerator: [{name: g, env: "ENTRY"}]`,
		"secretGenerator files":       `secretGenerator: [{name: g, files: ["ENTRY"]}]`,
		"helmCharts":                  `helmCharts: [{name: x, repo: "ENTRY", valuesFile: "ENTRY"}]`,
		"helmChartInflationGenerator": `helmChartInflationGenerator: [{chartName: x, chartRepoUrl: "ENTRY", helmBin: "/bin/false"}]`,
		"an inlined patch": "transformers:\n  - |\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: " +
			"{name: x}\n    path: \"ENTRY\"\n" +
			"    target: {kind: ConfigMap}\n",
		"an inlined list of patches": "transformers:\n  - |\n    apiVersion: builtin\n    kind: " +
			"PatchStrategicMergeTransformer\n    metadata: {name: x}\n    paths: [\"ENTRY\"]\n",
		"an inlined replacement": "transformers:\n  - |\n    apiVersion: builtin\n    kind: " +
			"ReplacementTransformer\n    metadata: {name: x}\n    replacements: [{path: \"ENTRY\"}]\n",
		"an inlined generator": "generators:\n  - |\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    " +
			"metadata: {name: x}\n    files: [\"ENTRY\"]\n",
		"an inlined chart": "generators:\n  - |\n    apiVersion: builtin\n    kind: " +
			"HelmChartInflationGenerator\n    metadata: {name: x}\n    name: y\n    repo: \"ENTRY\"\n",
	}
	entries := map[string]string{"an option of git": option, "https": "https://127.0.0.1:1/x.yaml", "http": o.url +
		"/x.yaml", "HTTP": strings.Replace(o.url, "http", "HTTP", 1) + "/x.yaml",
		"ssh": "git@127.0.0.1:x/y", "github": "github.com/x/y", "GitHub": "GitHub.com/x/y",
		"go-getter": "git::file:///x", "scheme without slashes": "file:x"}
	refused := func(files map[string]string) bool {
		_, err := build(tree(t, files))
		return fault.CodeOf(err) == fault.EnvironmentInvalid
	}
	for field, text := range fields {
		for kind, entry := range entries {
			if text := strings.ReplaceAll(text, "ENTRY", entry) + "\n"; !refused(
				map[string]string{"env/kustomization.yaml": text, "env/a.yaml": cm}) {
				t.Errorf("%s, %s: not refused", field, kind)
			}
		}
		for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
			text := strings.ReplaceAll(text, "ENTRY", option) + "\n"
			if !refused(map[string]string{"env/kustomization.yaml": "resources: [../base]\n", "base/" + name: text}) {
				t.Errorf("%s, in a %s that another one names: not refused", field, name)
			}
		}
	}
	o.check(t)
}

// What is refused is named by file, line, field and entry, all of it at once.
func TestRefusals(t *testing.T) {
	o := watch(t)
	list := "apiVersion: v1\nkind: List\nitems: [{apiVersion: x/v1, kind: Exec, metadata: {name: x}}]\n"
	cases := map[string]struct {
		files map[string]string
		want  []string
	}{
		"two entries": {map[string]string{"env/kustomization.yaml": "resources:\n  - https://example.com/a.yaml\n  - " +
			"b.yaml\npatches:\n  - path: ../../c\n"},
			[]string{`env/kustomization.yaml: line 2: resources: "https://example.com/a.yaml" is no local path, and cluster-init fetches nothing for a kustomization`,
				`env/kustomization.yaml: line 3: resources: "b.yaml" is neither a file nor a folder`,
				`env/kustomization.yaml: line 5: patches: "../../c" leads out of `}},
		"a URL with a password": {map[string]string{"env/kustomization.yaml": "resources: ['https://u:s3/cr@t@h/x']\n"},
			[]string{`line 1: resources: "https://***@h/x" is no local path`}},
		"a patch that cannot be read": {map[string]string{"env/kustomization.yaml": "patchesStrategicMerge:\n  - |\n" +
			"    kind: Secret\n    stringData: {a: s3cr@t\n"},
			[]string{`line 2: patchesStrategicMerge: "kind: Secret …" is no local path`}},
		"three kinds of plugins": {map[string]string{"env/kustomization.yaml": "validators: [v]\ntransformers: [t]\n" +
			"generators: [g]\n"}, []string{`generators: "g" is neither`, `transformers: "t" is neither`,
			`validators: "v" is neither`}},
		"an absolute path": {map[string]string{"env/kustomization.yaml": "resources: [/etc/passwd]\n"},
			[]string{`"/etc/passwd" is no path relative`}},
		"a folder that exists and could be a repository": {map[string]string{"env/kustomization.yaml": "resources: [github.com/x/y]\n",
			"env/github.com/x/y/kustomization.yaml": "resources: [a.yaml]\n", "env/github.com/x/y/a.yaml": cm},
			[]string{`"github.com/x/y" is no local path`}},
		"a file above": {map[string]string{"env/kustomization.yaml": "resources: [../a.yaml]\n",
			"a.yaml": cm}, []string{"a.yaml leads out of its folder"}},
		"a link out of the root": {map[string]string{"env/kustomization.yaml": "resources: [a.yaml]\n",
			"env/a.yaml": "-> /etc/hostname"}, []string{`"a.yaml" leads out of `}},
		"a link to a folder": {map[string]string{"env/kustomization.yaml": "resources: [a]\n",
			"env/a": "-> /etc"}, []string{`"a" leads out of `}},
		"a kustomization that's a link": {map[string]string{"env/kustomization.yaml": "-> text",
			"env/text": "resources: [https://example.com/a]\n"},
			[]string{`line 1: resources: "https://example.com/a" is no local path`}},
		"one that leads out": {map[string]string{"env/kustomization.yaml": "-> /etc/hostname"},
			[]string{"env/kustomization.yaml leads out of its folder"}},
		"a cycle": {map[string]string{"env/kustomization.yaml": "resources: [../b]\n",
			"b/kustomization.yaml": "resources: [../env]\n"},
			[]string{`b/kustomization.yaml: line 1: resources: "../env" leads back to env`}},
		"a function": {map[string]string{"env/kustomization.yaml": "transformers: [f.yaml]\n",
			"env/f.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata:\n  name: f\n" +
				"  annotations: {config.kubernetes.io/function: \"container: {image: x}\"}\n"},
			[]string{"env/f.yaml: transformers: builtin LabelTransformer: cluster-init runs no plugin"}},
		"a plugin": {map[string]string{"env/kustomization.yaml": "generators: [f.yaml]\n",
			"env/f.yaml": "apiVersion: x/v1\nkind: Exec\nmetadata: {name: f}\n"},
			[]string{"x/v1 Exec: cluster-init runs no plugin"}},
		"a plugin in a list": {map[string]string{"env/kustomization.yaml": "generators: [f.yaml]\n",
			"env/f.yaml": list}, []string{"x/v1 Exec: cluster-init runs no plugin"}},
		"a validator": {map[string]string{"env/kustomization.yaml": "validators:\n  - |\n    " +
			"apiVersion: x/v1\n    kind: Check\n    metadata: {name: f}\n"},
			[]string{"env/kustomization.yaml: validators: x/v1 Check"}},
		"a folder of plugins": {map[string]string{"env/kustomization.yaml": "transformers: [t]\n",
			"env/t/kustomization.yaml": "resources: []\n"}, []string{`transformers: "t" is a folder`}},
		"what loads in its way": {map[string]string{"env/kustomization.yaml": "transformers:\n  - |\n    " +
			"apiVersion: builtin\n    kind: ValueAddTransformer\n    metadata: {name: f}\n    targetFilePath: x\n"},
			[]string{"ValueAddTransformer"}},
		"helm": {map[string]string{"env/kustomization.yaml": "helmGlobals: {chartHome: x}\n"},
			[]string{"runs no helm"}},
		"two documents": {map[string]string{"env/kustomization.yaml": "resources: " +
			"[a.yaml]\n---\nresources: [b.yaml]\n", "env/a.yaml": cm},
			[]string{"env/kustomization.yaml: line 2: a second document begins"}},
		"two files": {map[string]string{"env/kustomization.yaml": "", "env/Kustomization": ""},
			[]string{"env has both kustomization.yaml and Kustomization"}},
		"none": {map[string]string{"env/a": ""},
			[]string{"there is no kustomization.yaml in env"}},
		"an unknown field": {map[string]string{"env/kustomization.yaml": "resource: [a]\n"},
			[]string{`read env/kustomization.yaml: invalid Kustomization: json: unknown field "resource"`}},
		"a file where a folder is wanted": {map[string]string{"env/kustomization.yaml": "components: [a.yaml]\n",
			"env/a.yaml": cm}, []string{`components: "a.yaml" is a file`}},
		"a folder where a file is wanted": {map[string]string{"env/kustomization.yaml": "crds: [../env]\n"},
			[]string{`crds: "../env" is a folder`}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := build(tree(t, test.files))
			problems := fault.Problems(err)
			if len(problems) != len(test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(problems[i].Error(), want) || strings.Contains(problems[i].Error(), "cr@t") ||
					fault.CodeOf(problems[i]) != fault.EnvironmentInvalid || fault.HintOf(problems[i]) == "" {
					t.Errorf("got %v (%s), want %q", problems[i], fault.HintOf(problems[i]), want)
				}
			}
		})
	}
	o.check(t)
}

// What is local is built, with what built-in plugins do.
func TestLocalEntriesAreBuilt(t *testing.T) {
	text, err := build(tree(t, map[string]string{
		"env/kustomization.yaml": `resources: [../base, sub/more.yaml, linked]
components: [part]
namePrefix: x-
configMapGenerator: [{name: g, files: [v.yaml, k=sub/w.yaml], envs: [e.env]}]
patches: [{path: p.yaml}]
patchesStrategicMerge: [p.yaml, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {inline: d}\n"]
transformers:
  - labels.yaml
  - |
    apiVersion: builtin
    kind: AnnotationsTransformer
    metadata: {name: y}
    annotations: {seen: by-annotations}
    fieldSpecs: [{path: metadata/annotations, create: true}]
`,
		"base/Kustomization":      "resources: [a.yaml]\n",
		"base/a.yaml":             cm,
		"env/sub/more.yaml":       strings.ReplaceAll(cm, "name: a", "name: more"),
		"env/sub/w.yaml":          "w\n",
		"env/linked":              "-> ../other",
		"other/kustomization.yml": "resources: [../third]\n",
		"third/kustomization.yml": "resources: [c.yaml]\n",
		"third/c.yaml":            "-> real.yaml",
		"third/real.yaml":         strings.ReplaceAll(cm, "name: a", "name: third"),
		"env/part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: " +
			"[{path: p.yaml}]\n",
		"env/part/p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {part: d}\n",
		"env/v.yaml":      "v\n",
		"env/e.env":       "E=1\n",
		"env/p.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {patch: d}\n",
		"env/labels.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: " +
			"{seen: by-labels}\nfieldSpecs: [{path: metadata/labels, create: true}]\n",
		"env/unused/not-read.yaml":       "x",
		"env/github.com-mirror/any.yaml": "x",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name: x-a", "name: x-more", "name: x-third", "name: x-g-", "inline: d", "patch: d",
		"part: d", "E: \"1\"", "k: |", "seen: by-labels", "seen: by-annotations"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A few files that name each other again and again do not make a run without end.
func TestTheWorkIsBounded(t *testing.T) {
	files := map[string]string{"env/kustomization.yaml": "resources: [../x0, ../y0]\n"}
	for i := range 40 {
		for _, side := range []string{"x", "y"} {
			files[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = fmt.Sprintf(
				"namePrefix: \"%s\"\nresources: [../x%d, ../y%d]\n", side, i+1, i+1)
		}
	}
	files["x40/kustomization.yaml"], files["y40/kustomization.yaml"] = "resources: [a.yaml]\n", "resources: [a.yaml]\n"
	files["x40/a.yaml"], files["y40/a.yaml"] = cm, strings.ReplaceAll(cm, "name: a", "name: b")
	if _, err := build(tree(t, files)); err == nil || !strings.Contains(err.Error(), "more than 500 kustomizations") {
		t.Errorf("got %v", err)
	}
}

// A device or a socket in the place of a file is not read.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	root := tree(t, map[string]string{"env/kustomization.yaml": "resources: [a.yaml]\n"})
	listener, err := net.Listen("unix", filepath.Join(root, "env/a.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if _, err := build(root); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}

// kustomize sees each file as Read returns it, and Read gets what role it has, once.
func TestRead(t *testing.T) {
	memory := filesys.MakeFsInMemory()
	for name, text := range map[string]string{"/r/env/kustomization.yaml": "resources: [a.yaml, ../b, ../c]\n",
		"/r/env/a.yaml":           cm,
		"/r/b/kustomization.yaml": "configMapGenerator: [{name: g, files: [v.yaml]}]\n", "/r/b/v.yaml": "VAR",
		"/r/c/kustomization.yaml": "resources: [../d]\nnamePrefix: c\n",
		"/r/d/kustomization.yaml": "resources: [a.yaml]\n", "/r/d/a.yaml": cm} {
		if err := memory.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]int{}
	built, err := kustomize.Build(kustomize.Options{Files: memory, Folder: "/r/env", Root: "/r",
		Read: func(path string, role kustomize.Role, content []byte) ([]byte, error) {
			got[fmt.Sprint(path, " ", role)]++
			return []byte(strings.ReplaceAll(string(content), "VAR", "filled")), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"/r/env/kustomization.yaml 0": 1, "/r/env/a.yaml 2": 1, "/r/b/kustomization.yaml 0": 1,
		"/r/b/v.yaml 1": 1, "/r/c/kustomization.yaml 0": 1, "/r/d/kustomization.yaml 0": 1, "/r/d/a.yaml 2": 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if text, _ := built.AsYaml(); !strings.Contains(string(text), "v.yaml: filled") {
		t.Errorf("got\n%s", text)
	}
}

// A file that a generator names first is checked like any other as soon as something else names it.
func TestAFileOfAGeneratorIsCheckedInItsOtherRole(t *testing.T) {
	bomb := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	for name, kustomization := range map[string]string{
		"a transformer":   "configMapGenerator: [{name: g, files: [b/v]}]\ntransformers: [b/v]\n",
		"a patch":         "resources: [b]\npatches: [{path: b/v}]\n",
		"a kustomization": "resources: [b, b/c]\n",
	} {
		_, err := build(tree(t, map[string]string{"env/kustomization.yaml": kustomization, "env/b/v": bomb,
			"env/b/kustomization.yaml":   "configMapGenerator: [{name: g, files: [v, c/kustomization.yaml]}]\n",
			"env/b/c/kustomization.yaml": bomb}))
		if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "aliases") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	root := tree(t, map[string]string{"env/b/v": "x: y\n",
		"env/kustomization.yaml":   "resources: [b]\ncrds: [b/v, b/v]\n",
		"env/b/kustomization.yaml": "configMapGenerator: [{name: g, files: [v]}, {name: h, files: [v]}]\n"})
	var roles []kustomize.Role
	_, _ = kustomize.Build(kustomize.Options{Files: kustomize.Disk(), Folder: root + "/env", Root: root,
		Read: func(path string, role kustomize.Role, content []byte) ([]byte, error) {
			if filepath.Base(path) == "v" {
				roles = append(roles, role)
			}
			return content, nil
		}})
	if want := []kustomize.Role{kustomize.Values, kustomize.Other}; !reflect.DeepEqual(roles, want) {
		t.Errorf("read as %v, want %v", roles, want)
	}
}

// A field that a later kustomize has may name files too: then it must be checked.
func TestEachFieldOfAKustomizationIsKnown(t *testing.T) {
	for of, want := range map[reflect.Type]int{
		reflect.TypeFor[types.Kustomization]():    33,
		reflect.TypeFor[types.KvPairSources]():    4,
		reflect.TypeFor[types.Patch]():            4,
		reflect.TypeFor[types.ReplacementField](): 2,
		reflect.TypeFor[types.ConfigMapArgs]():    1,
		reflect.TypeFor[types.SecretArgs]():       2,
		reflect.TypeFor[types.GeneratorArgs]():    5,
	} {
		if got := of.NumField(); got != want {
			t.Errorf("%s has %d fields, not %d: check in entry.go whether a new one names files, then correct the "+
				"number", of, got, want)
		}
	}
}

// kustomize compares each object with each other one, and reads a file as often as it is named.
func TestWhatKustomizeComparesIsBounded(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const object = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n"
	const onBase = "resources: [../base]\nnamePrefix: "
	largeText := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + strings.Repeat("x", 15<<20) +
		"}\n"
	for name, files := range map[string]map[string]string{
		"objects": {"env/kustomization.yaml": "resources: [a.yaml]\n", "env/a.yaml": repeat(3000, object)},
		"generators": {"env/kustomization.yaml": "configMapGenerator:\n" +
			repeat(3000, "- {name: c%d, literals: [a=b]}\n")},
		"patches": {"env/a.yaml": cm, "env/kustomization.yaml": "resources: [a.yaml]\npatches:\n" +
			repeat(3000, "- {target: {name: c%d}, patch: '[]'}\n")},
		"a file that is named again and again": {"env/kustomization.yaml": "resources: [a.yaml, ../b, ../c, ../d, " +
			"../e]\n",
			"b/kustomization.yaml": onBase + "b", "c/kustomization.yaml": onBase + "c", "d/kustomization.yaml": onBase +
				"d",
			"e/kustomization.yaml": onBase + "e", "env/a.yaml": largeText,
			"base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": largeText},
		"lists": {"env/kustomization.yaml": "resources: [a.yaml]\n",
			"env/a.yaml": repeat(4, object+"a: ["+strings.Repeat("[],", 600_000)+"]\n")},
	} {
		_, err := build(tree(t, files))
		if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "this kustomization ha") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
