package sylva

import (
	"os"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Whatever a values file holds, it is converted to YAML, or refused.
func FuzzDocument(f *testing.F) {
	for _, name := range []string{"testdata/my-capo/values.yaml", "testdata/my-capo/secrets.yaml",
		"testdata/rke2/values.yaml"} {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Add("a: &a\n  b: *a\n")
	f.Add("cluster: {capo: {clouds_yaml: {clouds: 1}}}\ncomponents: {x: {path: 1, depends_on: [1, {name: [2]}]}}\n")
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content string) {
		d, err := parse("ConfigMap values, key values", false, content)
		if err != nil || d.root == nil {
			return
		}
		c := conversion{keys: keys, values: newMap(), secrets: newMap(), by: map[string]string{}}
		c.into, c.now = c.values, d.name
		c.named(d)
		c.document(d.root)
		out, err := encode(c.values)
		if err != nil {
			t.Fatal(err)
		}
		var again map[string]any
		if err := yaml.Unmarshal(out, &again); err != nil {
			t.Fatalf("%v in what came of it:\n%s", err, out)
		}
	})
}
