package environment_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// writeFolder makes a folder of files.
func writeFolder(t *testing.T, folder string, files map[string]string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// standsOnCapd is an environment with secrets.
var standsOnCapd = map[string]string{"environment.yaml": "from: kubeadm-capd", "secrets.yaml": prodSecrets}

const (
	prodSecrets = "proxies: {https_proxy: http://me:pa55word@proxy.example:3128}\n" +
		"git_auth_default: {username: me, password: t0ken-of-prod}\n"
	// onBaseWithSecrets is a kustomization with values and secrets of its own.
	onBaseWithSecrets = onBase + `secretGenerator:
  - name: management-cluster-secrets
    namespace: flux-system
    behavior: replace
    files: [values.yaml=secrets.yaml]
`
	literalSecrets = onBase + `secretGenerator:
  - name: management-cluster-infra-secrets
    namespace: flux-system
    behavior: replace
    literals: ["values.yaml=git_auth_default: {username: me, password: t0ken-of-prod}"]
`
)

// The values of an environment elsewhere are read. Its secrets are not: the author of `from` could send them to
// a server of their own.
func TestSecretsOfAFolderElsewhereAreWithheld(t *testing.T) {
	const onCapd = "from: kubeadm-capd"
	above := func(kustomization string) string {
		return strings.Replace(kustomization, "../base", "../kubeadm-capd", 1)
	}
	const values = "components: {capd: {enabled: true}, cluster: {enabled: true}}\ncluster: {worker: {replicas: 1}}\n"
	for name, tc := range map[string]struct {
		prod map[string]string
		file string // that the error names
	}{
		"secrets.yaml": {map[string]string{"environment.yaml": onCapd, "values.yaml": values,
			"secrets.yaml": prodSecrets},
			"secrets.yaml"},
		"a secret in a value": {map[string]string{"environment.yaml": onCapd, "values.yaml": values + prodSecrets},
			"values.yaml"},
		"a generator of files": {map[string]string{"kustomization.yaml": above(onBaseWithSecrets),
			"values.yaml":  values,
			"secrets.yaml": prodSecrets}, "kustomization.yaml"},
		"a generator of text": {map[string]string{"kustomization.yaml": above(literalSecrets), "values.yaml": values},
			"kustomization.yaml"},
		"a kustomized value": {map[string]string{"kustomization.yaml": above(onBase), "values.yaml": values +
			prodSecrets},
			"kustomization.yaml"},
		"secrets alone": {map[string]string{"environment.yaml": onCapd,
			"secrets.yaml": "git_auth_default: {password: t0ken-of-prod}"}, "secrets.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			prod := writeFolder(t, filepath.Join(t.TempDir(), "prod"), tc.prod)
			downloads := t.TempDir()
			if err := os.Symlink(prod, filepath.Join(downloads, "link")); err != nil {
				t.Fatal(err)
			}
			between := writeFolder(t, filepath.Join(downloads, "between"),
				map[string]string{"environment.yaml": "from: " + prod})
			for way, from := range map[string]string{"a path": prod, "a link": "../link", "another folder": between} {
				mine := writeFolder(t, filepath.Join(downloads, "mine"),
					map[string]string{"environment.yaml": "from: " + from, "values.yaml": "cluster: {name: mine}"})
				seen := ""
				options := environment.Options{Name: mine, Content: clusterinit.Content()}
				options.Secrets = func(documents ...map[string]any) {
					for _, d := range documents {
						seen += textOf(t, d)
					}
				}
				_, err := environment.Load(t.Context(), options)
				if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), tc.file) ||
					!strings.Contains(err.Error(), "git_auth_default.password") {
					t.Fatalf("%s: got %v", way, err)
				}
				if !strings.Contains(fault.HintOf(err), filepath.Join(mine, "secrets.yaml")) {
					t.Errorf("%s: the hint does not say where to: %s", way, fault.HintOf(err))
				}
				if text := err.Error() + fault.HintOf(err) + seen; showsProd(text) {
					t.Errorf("%s: a secret of the other folder is in %s", way, text)
				}
				// What the hint says ends it, and then nothing of the other folder's secrets is left.
				writeFolder(t, mine, map[string]string{"secrets.yaml": "proxies: {https_proxy: \"\"}\n" +
					"git_auth_default: {username: me, password: of-mine, hosts: [git.example]}\n"})
				env := load(t, environment.Options{Name: mine})
				objects, err := env.Objects()
				if err != nil {
					t.Fatal(err)
				}
				text := objects.Values.Data["values.yaml"] + string(objects.Secrets.Data["values.yaml"]) +
					string(objects.InfraSecrets.Data["values.yaml"])
				if showsProd(text) {
					t.Errorf("%s: a secret of the other folder goes into the clusters:\n%s", way, text)
				}
				if tc.prod["values.yaml"] != "" && env.Spec().Cluster.WorkerCount() != 1 {
					t.Errorf("%s: the values of the other folder are not read", way)
				}
				_ = os.RemoveAll(mine)
			}
		})
	}
}

// showsProd reports whether a secret of the other folder is in a text.
func showsProd(text string) bool {
	return strings.Contains(text, "t0ken-of-prod") || strings.Contains(text, "pa55word")
}

func textOf(t *testing.T, values map[string]any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cloudOfTheShell derives credentials as the built-in environments for OpenStack want them.
func cloudOfTheShell(_ context.Context, name string) (string, bool, error) {
	value, found := map[string]string{"OPENSTACK_CLOUD_YAML_B64": cloudsOfOne, "OPENSTACK_CLOUD": "edge"}[name]
	return value, found, nil
}

// What the user names on the command line is the user's word.
func TestAValuesFileGivesWhatIsWithheld(t *testing.T) {
	prod := writeFolder(t, filepath.Join(t.TempDir(), "prod"), standsOnCapd)
	mine := folder(t, map[string]string{"environment.yaml": "from: " + prod})
	load(t, environment.Options{Name: mine, ValuesFiles: []string{filepath.Join(prod, "secrets.yaml")}})
}

// Folders below the one that holds the environment, and built-in environments, keep their secrets. Other values are
// read from anywhere.
func TestSecretsThatAreUsed(t *testing.T) {
	root := t.TempDir()
	writeFolder(t, filepath.Join(root, "prod"), standsOnCapd)
	writeFolder(t, filepath.Join(root, "more/prod"), standsOnCapd)
	for _, from := range []string{"../prod", "../more/prod", filepath.Join(root, "prod")} {
		mine := writeFolder(t, filepath.Join(root, "mine"), map[string]string{"environment.yaml": "from: " + from})
		objects, err := load(t, environment.Options{Name: mine}).Objects()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(objects.InfraSecrets.Data["values.yaml"]), "pa55word") {
			t.Errorf("from %s: the secrets are not used", from)
		}
	}
	elsewhere := t.TempDir()
	for name, files := range map[string]map[string]string{
		"no secrets": {"environment.yaml": "from: kubeadm-capd",
			"values.yaml": "proxies: {http_proxy: http://proxy.example:3128}"},
		"empty secrets":             {"environment.yaml": "from: kubeadm-capd", "secrets.yaml": "# none\n"},
		"the built-in one's":        {"environment.yaml": "from: kubeadm-capo", "values.yaml": cloudOfOne},
		"the built-in one's, above": {"kustomization.yaml": "resources: [../kubeadm-capo]\n"},
	} {
		below := writeFolder(t, filepath.Join(elsewhere, strings.ReplaceAll(name, " ", "-")), files)
		mine := folder(t, map[string]string{"environment.yaml": "from: " + below, "values.yaml": cloudOfOne})
		if strings.Contains(files["environment.yaml"], "capd") {
			mine = folder(t, map[string]string{"environment.yaml": "from: " + below})
		}
		options := environment.Options{Name: mine, Content: clusterinit.Content(), Derive: cloudOfTheShell}
		if _, err := environment.Load(t.Context(), options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// `init` writes an environment that stands on one elsewhere, and says in it which secrets it needs.
func TestScaffoldNamesWithheldSecrets(t *testing.T) {
	prod := writeFolder(t, filepath.Join(t.TempDir(), "prod"), standsOnCapd)
	options := environment.Options{Name: prod, Content: clusterinit.Content()}
	files, err := environment.Scaffold(t.Context(), options, filepath.Join(t.TempDir(), "mine"), "mine")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(files["values.yaml"]); !strings.Contains(text, "git_auth_default.password") || showsProd(text) {
		t.Errorf("got\n%s", text)
	}
	adjacent, err := environment.Scaffold(t.Context(), options, filepath.Join(filepath.Dir(prod), "mine"), "mine")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(adjacent["values.yaml"]); strings.Contains(text, "git_auth_default.password") {
		t.Errorf("got\n%s", text)
	}
}
