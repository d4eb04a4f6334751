package environment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// An editor holds a file of values, which has only what it changes, against the schema beside it.
func TestTheSchemaForEditorsTakesAPart(t *testing.T) {
	files, err := environment.Scaffold(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()}, t.TempDir(), "mine")
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
	below := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd", "values.yaml": "cluster: {name: below, worker: {replicas: 1}}",
		"secrets.yaml": "proxies: {https_proxy: http://me:pa55word@proxy.example:3128}"})
	above := folder(t, map[string]string{"environment.yaml": "from: ../below", "values.yaml": "cluster: {name: above}"})
	if err := os.Rename(below, filepath.Join(filepath.Dir(above), "below")); err != nil {
		t.Fatal(err)
	}
	env, err := environment.Load(t.Context(), environment.Options{Name: above, Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if env.Name() != filepath.Base(above) || env.BuiltOn() != "kubeadm-capd" || env.ClusterName() != "above" || env.Spec().Cluster.Worker.Replicas != 1 {
		t.Errorf("got %s on %s: %+v", env.Name(), env.BuiltOn(), env.Spec().Cluster)
	}
	if text := objects.Values.Data["values.yaml"]; strings.Contains(text, "pa55word") {
		t.Errorf("a secret is in the ConfigMap:\n%s", text)
	}
	if !strings.Contains(string(objects.InfraSecrets.Data["values.yaml"])+string(objects.Secrets.Data["values.yaml"]), "pa55word") {
		t.Error("secrets.yaml has no effect")
	}
}

// The author of an environment may not read another one's secrets: it stands on folders next to it only.
func TestAnEnvironmentStandsOnNothingElsewhere(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(name string) error {
		_, err := environment.Load(t.Context(),
			environment.Options{Name: filepath.Join(root, name), Content: clusterinit.Content()})
		return err
	}
	write("victim/prod/environment.yaml", "from: kubeadm-capd\n")
	write("victim/prod/secrets.yaml", "git_auth_default: {password: hunter2}\n")
	write("evil/it/environment.yaml", "")
	if err := os.Symlink(filepath.Join(root, "victim/prod"), filepath.Join(root, "evil/link")); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{
		"relative": "../../victim/prod", "absolute": filepath.Join(root, "victim/prod"), "a link": "../link",
	} {
		write("evil/it/environment.yaml", "from: "+from+"\n")
		err := load("evil/it")
		if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "is not below") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write("victim/other/environment.yaml", "from: ../prod\n")
	if err := load("victim/other"); err != nil {
		t.Error(err)
	}
}
