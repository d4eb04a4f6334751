package kustomize_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/kustomize"
)

// Whatever a kustomization, or a configuration that it names, says: nothing is asked, nothing runs, and nothing breaks.
func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		"resources: [a.yaml]\n", "resources: [\"SERVER/x\"]\n", "{\"Resources\": [\"SERVER/x\"]}",
		"bases: &a [x]\ncomponents: *a\n",
		"generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: x}\n  files: " +
			"[SERVER/x]\n",
		"transformers: [a.yaml]\nopenapi: {path: a.yaml}\n",
		"configMapGenerator: [{name: g, files: ['a=SERVER/x', a.yaml]}]\n",
		"patches: [{path: a.yaml}]\nreplacements: [{path: a.yaml}]\ncrds: [a.yaml]\nconfigurations: [a.yaml]\n",
		"helmCharts: [{name: x}]\n", "vars: [{name: x}]\n",
	} {
		for _, other := range []string{cm, "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: " +
			"SERVER/x\n", "- op: add\n", "a: &a [*a]\n", "null\n"} {
			f.Add(seed, other)
		}
	}
	f.Fuzz(func(t *testing.T, kustomization, other string) {
		o := watch(t)
		memory := filesys.MakeFsInMemory()
		for name, text := range map[string]string{"/r/env/kustomization.yaml": kustomization, "/r/env/a.yaml": other} {
			if err := memory.WriteFile(name, []byte(strings.ReplaceAll(text, "SERVER", o.url))); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = kustomize.Build(kustomize.Options{Files: memory, Folder: "/r/env", Root: "/r"})
		o.check(t)
	})
}
