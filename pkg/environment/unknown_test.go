package environment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// cloudOfOne is what a machine's environment needs besides credentials.
const cloudOfOne = `cluster:
  openstack: {image: i, control_plane_flavor: f, worker_flavor: f, external_network: public}
`

// cloudsOfOne is base64 of a clouds.yaml with the entry edge.
const cloudsOfOne = "Y2xvdWRzOgogIGVkZ2U6CiAgICBhdXRoOgogICAgICBhdXRoX3VybDogaHR0cHM6Ly9rZXlzdG9uZS5leGFtcGxlLm9yZy92MwogICAgICB1c2VybmFtZTogY2FwbwogICAgICBwYXNzd29yZDogIjAxMjMiCg=="

// What a value lacks that another file or a flag gives is no problem; what a value lacks that counts is, with its file
// and all others.
func TestWhatDoesNotCountIsNotNeeded(t *testing.T) {
	const builtIn = "built-in environment-values/kubeadm-capo/infra-secrets.yaml: no credentials"
	own := "cluster: {openstack: {clouds_yaml_b64: " + cloudsOfOne + ", cloud_name: edge, cacert_b64: \"\"}}\n"
	onCapo := func(secrets string) map[string]string {
		return map[string]string{"environment.yaml": "from: kubeadm-capo\n", "values.yaml": cloudOfOne,
			"secrets.yaml": secrets}
	}
	kustomized := func(values, secrets, infra string) map[string]string {
		return map[string]string{"kustomization.yaml": secretsOf, "values.yaml": values +
			"components: {capd: {enabled: true}, cluster: {enabled: true}}\n", "secrets.yaml": secrets,
			"infra.yaml": infra}
	}
	const lacks = "git_auth_default: {password: \"${CLUSTER_INIT_VAR_A}\"}\n"
	cases := map[string]struct {
		files    map[string]string
		more     string // a file of --values
		sets     []string
		problems []string // FOLDER is the environment's
	}{
		"credentials of the folder's own": {files: onCapo(own)},
		"credentials of a file of values": {files: onCapo("{}\n"), more: own},
		"credentials by --set": {files: onCapo("{}\n"),
			sets: []string{"cluster.openstack.clouds_yaml_b64=" + cloudsOfOne, "cluster.openstack.cloud_name=edge",
				"cluster.openstack.cacert_b64="}},
		"some of them": {files: onCapo("cluster: {openstack: {clouds_yaml_b64: " +
			cloudsOfOne + ", cacert_b64: \"\"}}\n"), problems: []string{builtIn}},
		"none": {files: onCapo("{}\n"), problems: []string{builtIn}},
		"credentials and a variable that is lost": {files: onCapo(
			own + "cni: ${CLUSTER_INIT_VAR_A}\nproxies: {http_proxy: \"${CLUSTER_INIT_VAR_B}\"}\n"),
			problems: []string{"FOLDER/secrets.yaml: line 2: variable CLUSTER_INIT_VAR_A is not set",
				"FOLDER/secrets.yaml: line 3: variable CLUSTER_INIT_VAR_B is not set"}},
		"a later Secret": {files: kustomized("", lacks, "git_auth_default: {password: x}\n")},
		"a Secret over the ConfigMap": {files: kustomized(lacks, "git_auth_default: {password: x}\n",
			"{}\n")},
		"an earlier Secret does not help": {files: kustomized("", "git_auth_default: {password: x}\n", lacks),
			problems: []string{"FOLDER/infra.yaml: line 1: variable CLUSTER_INIT_VAR_A is not set"}},
		"null": {files: kustomized(
			"", "components: {capi: {spec: {timeout: \"${CLUSTER_INIT_VAR_A}\"}}}\n",
			"components: {capi: {spec: null}}\n")},
		"a list": {files: kustomized(
			"", "components: {capi: {namespaces: [a, \"${CLUSTER_INIT_VAR_A}\"]}}\n",
			"components: {capi: {namespaces: [capi-system]}}\n")},
		"one entry of a list": {files: kustomized(
			"", "components: {capi: {namespaces: [a, \"${CLUSTER_INIT_VAR_A}\"]}}\n", "{}\n"),
			sets:     []string{"components.capi.namespaces[0]=b"},
			problems: []string{"FOLDER/secrets.yaml: line 1: variable CLUSTER_INIT_VAR_A is not set"}},
		"a map next to it": {files: kustomized("", lacks, "git_auth_default: {username: x}\n"),
			problems: []string{"FOLDER/secrets.yaml: line 1: variable CLUSTER_INIT_VAR_A is not set"}},
		"a key": {files: kustomized(
			"", "registry_secret: {\"${CLUSTER_INIT_VAR_A}\": {username: a, password: b}}\n", "{}\n"),
			problems: []string{"FOLDER/secrets.yaml: line 1: variable CLUSTER_INIT_VAR_A is not set"}},
		"a kustomization": {files: map[string]string{"kustomization.yaml": secretsOf +
			"namePrefix: \"\"\nbuildMetadata: [\"${CLUSTER_INIT_VAR_A}\"]\n",
			"values.yaml": "components: {capd: {enabled: true}, cluster: {enabled: true}}\n", "secrets.yaml": "{}\n",
			"infra.yaml": "{}\n"},
			problems: []string{"FOLDER/kustomization.yaml: line 9: variables are filled in only in files of values " +
				"and secrets"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			options := environment.Options{Name: folder(t, tc.files), Derive: noCloud, Sets: tc.sets}
			if tc.more != "" {
				options.ValuesFiles = []string{filepath.Join(t.TempDir(), "more")}
				if err := os.WriteFile(options.ValuesFiles[0], []byte(tc.more), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tc.problems != nil {
				var want []string
				for _, problem := range tc.problems {
					want = append(want, strings.ReplaceAll(problem, "FOLDER", options.Name))
				}
				if diff := cmp.Diff(want, messages(t, options)); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
				return
			}
			env := load(t, options)
			env, err := env.WithOverrides(
				map[string]any{"cluster": map[string]any{"worker": map[string]any{"replicas": 1}}})
			if err != nil {
				t.Fatal(err)
			}
			objects, err := env.Objects()
			if err != nil {
				t.Fatal(err)
			}
			plain, secret := objects.Values.Data["values.yaml"], string(objects.Secrets.Data["values.yaml"])+
				string(objects.InfraSecrets.Data["values.yaml"])
			if strings.Contains(plain+secret, "unknown value") || strings.Contains(plain, "password: x") ||
				strings.Contains(plain, cloudsOfOne) {
				t.Errorf("ConfigMap:\n%s\nSecrets:\n%s", plain, secret)
			}
		})
	}
}
