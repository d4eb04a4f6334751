package environment_test

import (
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// An editor checks a file of values, which has only changes, with the schema next to it.
func TestTheSchemaForEditorsTakesAPart(t *testing.T) {
	files, err := environment.Scaffold(t.Context(), environment.Options{Name: "kubeadm-capd",
		Content: clusterinit.Content()}, t.TempDir(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		string(files["values.yaml"]):                     true,
		"cluster: {control_plane: {schedulable: false}}": true,
		"cluster: {worker: {replicas: many}}":            false,
		"cluster: {nmae: x}":                             false,
	} {
		values, err := chartutil.ReadValues([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := chartutil.ValidateAgainstSingleSchema(values, files["values.schema.json"]); (err == nil) != fits {
			t.Errorf("%s: fits: %t, got %v", text, fits, err)
		}
	}
}

func TestAnEnvironmentStandsOnAnother(t *testing.T) {
	root := t.TempDir()
	below := writeFolder(t, filepath.Join(root, "below"), map[string]string{"environment.yaml": "from: kubeadm-capd",
		"values.yaml":  "cluster: {name: below, worker: {replicas: 1}}",
		"secrets.yaml": "proxies: {https_proxy: http://me:pa55word@proxy.example:3128}"})
	above := writeFolder(t, filepath.Join(root, "above"),
		map[string]string{"environment.yaml": "from: " + below, "values.yaml": "cluster: {name: above}"})
	env, err := environment.Load(t.Context(), environment.Options{Name: above, Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if env.Name() != filepath.Base(above) || env.BuiltOn() != "kubeadm-capd" || env.ClusterName() != "above" ||
		env.Spec().Cluster.WorkerCount() != 1 {
		t.Errorf("got %s on %s: %+v", env.Name(), env.BuiltOn(), env.Spec().Cluster)
	}
	if text := objects.Values.Data["values.yaml"]; strings.Contains(text, "pa55word") {
		t.Errorf("a secret is in the ConfigMap:\n%s", text)
	}
	if !strings.Contains(string(objects.InfraSecrets.Data["values.yaml"])+string(objects.Secrets.Data["values.yaml"]),
		"pa55word") {
		t.Error("secrets.yaml has no effect")
	}
}

// A path that YAML would take for something else is still a text in the files of a new environment.
func TestScaffoldWritesTextThatStaysText(t *testing.T) {
	for _, below := range []string{"a: b #c", "it's [x", "& \"*", "a\nb: c", "back\\slash ", "plain"} {
		root := t.TempDir()
		writeFolder(t, filepath.Join(root, below), map[string]string{"environment.yaml": "from: kubeadm-capd",
			"values.yaml": "cluster: {name: below, worker: {replicas: 1}}"})
		files, err := environment.Scaffold(t.Context(), environment.Options{Name: filepath.Join(root, below),
			Content: clusterinit.Content()}, filepath.Join(root, "mine"), "e1")
		if err != nil {
			t.Errorf("%q: %v", below, err)
			continue
		}
		texts := map[string]string{}
		for name, content := range files {
			texts[name] = string(content)
		}
		env, err := environment.Load(t.Context(), environment.Options{Content: clusterinit.Content(),
			Name: writeFolder(t, filepath.Join(root, "mine"), texts)})
		if err != nil || env.ClusterName() != "e1" || env.Spec().Cluster.WorkerCount() != 1 {
			t.Errorf("%q: %v\n%s\n%s", below, err, texts["environment.yaml"], texts["values.yaml"])
		}
	}
}
