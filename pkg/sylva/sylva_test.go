package sylva_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/sylva"
)

func convert(t *testing.T, folder string) (sylva.Converted, error) {
	t.Helper()
	keys, err := environment.Keys(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	return sylva.Convert(folder, "", "otherwise", environment.List(clusterinit.Content()), keys)
}

func TestConvert(t *testing.T) {
	for _, name := range []string{"my-capo", "rke2", "original/environment-values/docker",
		"original/environment-values/cloud", "original/environment-values/units"} {
		t.Run(name, func(t *testing.T) {
			c, err := convert(t, filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "from: %s, cluster %s\n\n# values.yaml\n%s\n# secrets.yaml\n%s\n", c.From, c.Name, c.Values,
				c.Secrets)
			for _, said := range c.Said {
				fmt.Fprintf(&b, "%s -> %s\n", said.Key, said.As)
			}
			for _, left := range c.Left {
				fmt.Fprintf(&b, "%s: %s\n", left.Key, left.Why)
			}
			golden.Check(t, filepath.Base(name)+".txt", []byte(b.String()))
		})
	}
}

// What was converted is an environment: it stands on the one that it names, and has the values that the seed's had.
func TestWhatWasConvertedIsAnEnvironment(t *testing.T) {
	c, err := convert(t, filepath.Join("testdata", "my-capo"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "edge")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{environment.FromFile: "from: " + c.From + "\n",
		environment.OwnValuesFile: string(c.Values), environment.OwnSecretsFile: string(c.Secrets)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := map[string]string{"CLUSTER_INIT_VAR_WORKERS": "2", "http_proxy": "http://proxy:3128",
		"https_proxy": "http://proxy:3129", "no_proxy": "10.0.0.0/8", "GITLAB_USER": "me"}
	env, err := environment.Load(t.Context(), environment.Options{Name: folder, Content: clusterinit.Content(),
		// and no credentials: the seed has them
		Variables: func(name string) (string, bool) { value, set := given[name]; return value, set }})
	if err != nil {
		t.Fatal(err)
	}
	spec := env.Spec()
	if spec.Cluster.Name != "edge-one" || spec.Cluster.ControlPlane.Replicas != 3 || spec.Cluster.WorkerCount() != 2 {
		t.Errorf("%+v", spec.Cluster)
	}
}

func TestWhatCannotBeConverted(t *testing.T) {
	const kustomization = "configMapGenerator: [{name: management-cluster-values, files: [values=values.yaml]}]\n"
	for name, tc := range map[string]struct {
		files map[string]string
		code  fault.Code
		says  string
	}{
		"no kustomization": {map[string]string{"values.yaml": "cluster: {}"}, fault.EnvironmentInvalid,
			"there is no kustomization.yaml in "},
		"no values": {map[string]string{"kustomization.yaml": "configMapGenerator: [{name: other, literals: " +
			"[a=b]}]\n"}, fault.EnvironmentInvalid, "renders no ConfigMap management-cluster-values"},
		"something else": {map[string]string{"kustomization.yaml": "configMapGenerator: [{name: other, literals: " +
			"['a={b: 1}']}]\n"}, fault.EnvironmentInvalid, "renders no ConfigMap management-cluster-values"},
		"no map": {map[string]string{"kustomization.yaml": kustomization, "values.yaml": "- 1"},
			fault.EnvironmentInvalid, "it is no map"},
		"no YAML": {map[string]string{"kustomization.yaml": kustomization, "values.yaml": "a: [1"},
			fault.EnvironmentInvalid, "key values"},
		"no providers": {map[string]string{"kustomization.yaml": kustomization,
			"values.yaml": "cluster: {name: x}"}, fault.EnvironmentInvalid, "which providers"},
		"a provider of else": {map[string]string{"kustomization.yaml": kustomization,
			"values.yaml": "cluster: {flavor: {infra_provider: capm3, bootstrap_provider: cabpk}}"},
			fault.EnvironmentInvalid, `"capm3"`},
		"a Secret that does not parse": {map[string]string{"kustomization.yaml": kustomization +
			"secretGenerator: [{name: management-cluster-secrets, files: [secrets=secrets.yaml]}]\n",
			"values.yaml":  "cluster: {flavor: {infra_provider: capd, bootstrap_provider: cabpk}}",
			"secrets.yaml": "password: *pa55word\n"}, fault.EnvironmentInvalid, "no YAML map of values"},
		"nothing but a file": {nil, fault.EnvironmentUnknown, "there is no folder"},
		"values out of bounds": {map[string]string{"kustomization.yaml": kustomization,
			"values.yaml": "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"},
			fault.EnvironmentInvalid, "too large"},
		"an empty values file": {map[string]string{"kustomization.yaml": kustomization, "values.yaml": "# none"},
			fault.EnvironmentInvalid, "renders no ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, content := range tc.files {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tc.files == nil {
				folder = filepath.Join(folder, "nowhere")
			}
			_, err := convert(t, folder)
			if strings.Contains(fmt.Sprint(err), "pa55word") {
				t.Errorf("a secret is shown: %v", err)
			}
			if fault.CodeOf(err) != tc.code || !strings.Contains(fmt.Sprint(err), tc.says) || fault.HintOf(err) == "" {
				t.Errorf("%v (%s), want %s with %q", err, fault.CodeOf(err), tc.code, tc.says)
			}
		})
	}
}

// What is secret goes into the file that only its owner can read, also where the seed had it in the file of values; and
// what is said in two places is said the same.
func TestSecretsOfValuesGoIntoSecrets(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{"kustomization.yaml": "configMapGenerator: [{name: " +
		"management-cluster-values, files: [values=values.yaml]}]\n", "values.yaml": `
cluster:
  flavor: {infra_provider: capo, bootstrap_provider: cabpk}
  capo: {flavor_name: "${MY_FLAVOR}", clouds_yaml: {clouds: {edge: {auth: {password: "of-the-cloud"}}}}}
registry_secret: {registry.example: {username: me, password: of-the-registry}}
proxies: {http_proxy: "http://me:of-the-proxy@proxy:3128"}
`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := convert(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	// else the CA would be that of the shell's cloud
	for _, secret := range []string{"of-the-registry", "of-the-proxy", "clouds_yaml_b64", `cacert_b64: ""`} {
		if strings.Contains(string(c.Values), secret) || !strings.Contains(string(c.Secrets), secret) {
			t.Errorf("%s is in\n%s\nand not in\n%s", secret, c.Values, c.Secrets)
		}
	}
	if strings.Count(string(c.Values), `flavor: "$${MY_FLAVOR}"`) != 2 {
		t.Errorf("a variable that may not be used does not stand as it is: %s", c.Values)
	}
}

// A folder that names something remote is refused before anything is asked or run.
func TestARemoteEntryIsRefused(t *testing.T) {
	programs, marker := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(programs, "git"), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"),
		[]byte("resources: [\"file:///x?ref=--upload-pack=id\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := convert(t, folder)
	if fault.CodeOf(err) != fault.EnvironmentInvalid ||
		!strings.Contains(fmt.Sprint(err), "kustomization.yaml: line 1: resources: ") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("git ran")
	}
}

// Folders of the original come to environments that load: what they lack is only what their authors must set.
func TestFoldersOfTheOriginalLoad(t *testing.T) {
	for _, name := range []string{"docker", "cloud", "units"} {
		t.Run(name, func(t *testing.T) {
			c, err := convert(t, filepath.Join("testdata/original/environment-values", name))
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(t.TempDir(), "edge")
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{environment.FromFile: "from: " + c.From + "\n",
				environment.OwnValuesFile: string(c.Values), environment.OwnSecretsFile: string(c.Secrets)} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err = environment.Load(t.Context(), environment.Options{Name: folder, Content: clusterinit.Content()})
			for _, problem := range fault.Problems(err) {
				if fault.CodeOf(problem) != fault.VariableMissing && !strings.Contains(problem.Error(), " is empty") {
					t.Error(problem)
				}
			}
		})
	}
}

// Ciphertext is no value.
func TestCiphertextIsRefused(t *testing.T) {
	const encrypted = "password: ENC[AES256_GCM,data:c2FtcGxl,iv:AAAA,tag:BBBB,type:str]\nsops: {mac: " +
		"'ENC[AES256_GCM,data:x]', version: 3.8.1}\n"
	for name, files := range map[string]map[string]string{
		"a file of secrets": {"kustomization.yaml": "secretGenerator: [{name: management-cluster-secrets, files: " +
			"[secrets=a.yaml]}]\n", "a.yaml": "git_auth_default:\n  " + encrypted},
		"a Secret": {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "apiVersion: v1\nkind: " +
			"Secret\nmetadata: {name: management-cluster-secrets}\nstringData:\n  secrets: |\n    " +
			strings.ReplaceAll(encrypted, "\n", "\n    ")},
		"one of many values": {"kustomization.yaml": "configMapGenerator: [{name: management-cluster-values, files: " +
			"[values=a.yaml]}]\n",
			"a.yaml": "cluster: {flavor: {infra_provider: capd, bootstrap_provider: cabpk}}\nlist: [{a: " +
				"['ENC[AES256_GCM,data:x]']}]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, content := range files {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := convert(t, folder)
			if fault.CodeOf(err) != fault.EnvironmentInvalid ||
				!strings.Contains(fmt.Sprint(err), "it is encrypted with SOPS") ||
				!strings.Contains(fault.HintOf(err), "sops --decrypt") {
				t.Errorf("got %v (%s)", err, fault.HintOf(err))
			}
		})
	}
}
