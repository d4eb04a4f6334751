package environment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// secretsOf is a kustomization with all three documents of the user's own.
const secretsOf = `namespace: flux-system
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
  - {name: management-cluster-values, files: [values.yaml]}
secretGenerator:
  - {name: management-cluster-secrets, files: [values.yaml=secrets.yaml]}
  - {name: management-cluster-infra-secrets, files: [values.yaml=infra.yaml]}
`

func TestValuesMerge(t *testing.T) {
	cases := map[string]struct {
		values, secrets, infra string
		sets                   []string
		file                   string
		overrides              string
		at                     string // dotted path
		want                   any    // nil: not there
	}{
		"chart default": {at: "cluster.kubernetes_version", want: "v1.36.4"},
		"values over chart": {values: "cluster: {kubernetes_version: v1.35.0}",
			at: "cluster.kubernetes_version", want: "v1.35.0"},
		"secrets over values":        {values: "cni: calico", secrets: "cni: custom", at: "cni", want: "custom"},
		"infra-secrets over secrets": {secrets: "cni: custom", infra: "cni: calico", at: "cni", want: "calico"},
		"maps are merged": {values: "cluster: {worker: {replicas: 3}}",
			at: "cluster.control_plane.replicas", want: int64(1)},
		"lists are replaced": {values: "components: {capi: {namespaces: [x]}, capd: {enabled: true}, " +
			"cluster: {enabled: true}}", at: "components.capi.namespaces", want: []any{"x"}},
		"null deletes": {values: "components: {capi: {spec: null}, capd: {enabled: true}, cluster: " +
			"{enabled: true}}", at: "components.capi.spec", want: nil},
		"file over secrets": {secrets: "cni: custom", file: "cni: calico", at: "cni", want: "calico"},
		"set over file": {file: "cni: calico", sets: []string{"cni=custom"}, at: "cni",
			want: "custom"},
		"set over infra-secrets": {infra: "cni: calico", sets: []string{"cni=custom"}, at: "cni",
			want: "custom"},
		"set null deletes": {sets: []string{"components.capi.spec=null"}, at: "components.capi.spec",
			want: nil},
		"set one entry of a list": {sets: []string{"components.capi.namespaces[1]=y"},
			at: "components.capi.namespaces", want: []any{"capi-system", "y"}},
		"override over values":  {values: "cni: calico", overrides: "cni: custom", at: "cni", want: "custom"},
		"override over secrets": {secrets: "cni: calico", overrides: "cni: custom", at: "cni", want: "custom"},
		"set over override": {sets: []string{"cni=none"}, overrides: "cni: custom", at: "cni",
			want: "none"},
		"secret by set wins over infra": {infra: "registry_secret: {r: {username: u, password: a}}",
			sets: []string{"registry_secret.r.password=b"}, at: "registry_secret.r.password", want: "b"},
		"unquoted variable takes a type": {values: "cluster:\n  worker:\n    replicas: ${CLUSTER_INIT_VAR_N}",
			at: "cluster.worker.replicas", want: int64(2)},
		"quoted variable is a string": {values: `registry_secret: {r: {username: u, password: "${CLUSTER_INIT_VAR_N}"}}`, at: "registry_secret.r.password", want: "2"},
		"empty variable is no null": {values: "proxies:\n  no_proxy: ${no_proxy:=}", at: "proxies.no_proxy",
			want: ""},
		"a value cannot add keys": {values: "cluster:\n  openstack:\n    image: ${GITLAB_TOKEN}\n",
			at: "cluster.openstack.image", want: "a: \"b\"\nc: d #"},
		"upper case proxy": {values: "proxies:\n  https_proxy: ${https_proxy:=}",
			at: "proxies.https_proxy", want: "http://proxy"},
		"comments are not variables": {values: "# ${NOT_ALLOWED}\ncni: none", at: "cni", want: "none"},
		"literal dollar brace": {values: "registry_secret: {r: {username: u, password: \"$${X}\"}}",
			at: "registry_secret.r.password", want: "${X}"},
	}
	lookup := variables(map[string]string{"CLUSTER_INIT_VAR_N": "2", "GITLAB_TOKEN": "a: \"b\"\nc: d #",
		"HTTPS_PROXY": "http://proxy"})
	or := func(text string) string {
		if text == "" {
			return "{}\n"
		}
		return text
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			options := environment.Options{Sets: test.sets, Variables: lookup}
			if !strings.Contains(test.values, "components") {
				// Without them there is no management cluster.
				test.values += "\ncomponents: {capd: {enabled: true}, cluster: {enabled: true}}\n"
			}
			options.Name = folder(t, map[string]string{"kustomization.yaml": secretsOf,
				"values.yaml": or(test.values), "secrets.yaml": or(test.secrets), "infra.yaml": or(test.infra)})
			if test.file != "" {
				options.ValuesFiles = []string{filepath.Join(t.TempDir(), "more")}
				if err := os.WriteFile(options.ValuesFiles[0], []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := load(t, options)
			if test.overrides != "" {
				overrides, err := chartutil.ReadValues([]byte(test.overrides))
				if err != nil {
					t.Fatal(err)
				}
				if env, err = env.WithOverrides(overrides); err != nil {
					t.Fatal(err)
				}
			}
			check := func(who string, values map[string]any) {
				t.Helper()
				got := at(values, test.at)
				if number, ok := got.(float64); ok {
					got = int64(number)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", who, test.at, diff)
				}
			}
			check("Values", env.Values(environment.Management))
			check("what Helm makes of the objects", asHelm(t, env))
		})
	}
}

// at returns what is at a dotted path, nil when nothing is.
func at(values map[string]any, dotted string) any {
	if value, err := chartutil.Values(values).PathValue(dotted); err == nil {
		return value
	}
	if table, err := chartutil.Values(values).Table(dotted); err == nil {
		return table.AsMap()
	}
	return nil
}

// asHelm merges the objects as helm-controller does and lays them over the chart's values with Helm's own code.
func asHelm(t *testing.T, env *environment.Environment) map[string]any {
	t.Helper()
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	merged := map[string]any{}
	for _, text := range []string{objects.Values.Data["values.yaml"], string(objects.Secrets.Data["values.yaml"]),
		string(objects.InfraSecrets.Data["values.yaml"])} {
		var values map[string]any
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		merged = mergeMaps(merged, values)
	}
	data, err := os.ReadFile(filepath.Join(chartOnDisk(t), "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	chartValues, err := chartutil.ReadValues(data)
	if err != nil {
		t.Fatal(err)
	}
	return chartutil.CoalesceTables(merged, chartValues)
}

func mergeMaps(base, over map[string]any) map[string]any {
	for key, value := range over {
		if nested, ok := value.(map[string]any); ok {
			if existing, ok := base[key].(map[string]any); ok {
				base[key] = mergeMaps(existing, nested)
				continue
			}
		}
		base[key] = value
	}
	return base
}

func TestSecretsStayOutOfTheConfigMap(t *testing.T) {
	env := load(t, environment.Options{Sets: []string{"git_auth_default.password=hidden",
		"proxies.http_proxy=http://u:hidden@p", "cni=none"}})
	objects, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	want := "cluster:\n  bootstrap_provider: kubeadm\n  docker_host: \"\"\n  infra_provider: capd\n  name: " +
		"kubeadm-capd\ncni: none\ncomponents:\n  capd:\n    enabled: true\n  cluster:\n    enabled: true\n"
	if diff := cmp.Diff(want, objects.Values.Data["values.yaml"]); diff != "" {
		t.Errorf("ConfigMap (-want +got):\n%s", diff)
	}
	for name, object := range map[string]interface{ GetName() string }{
		"management-cluster-values": objects.Values, "management-cluster-secrets": objects.Secrets,
		"management-cluster-infra-secrets": objects.InfraSecrets,
	} {
		if object.GetName() != name {
			t.Errorf("object %s is named %s", name, object.GetName())
		}
	}
	if objects.Values.Namespace != "flux-system" || objects.Values.Labels["cluster-init.io/cluster"] != "kubeadm-capd" {
		t.Errorf("wrong metadata: %+v", objects.Values.ObjectMeta)
	}
}

func TestEnvironmentIsImmutable(t *testing.T) {
	env := load(t, environment.Options{})
	before, err := env.Render(environment.Bootstrap, nil)
	if err != nil {
		t.Fatal(err)
	}
	values := env.Values(environment.Bootstrap)
	values["cluster"].(map[string]any)["name"] = "changed"
	overrides := map[string]any{"cluster": map[string]any{"worker": map[string]any{"replicas": 4}}}
	other, err := env.WithOverrides(overrides)
	if err != nil {
		t.Fatal(err)
	}
	overrides["cluster"].(map[string]any)["worker"].(map[string]any)["replicas"] = 9
	if other.Spec().Cluster.WorkerCount() != 4 || env.Spec().Cluster.WorkerCount() != 0 ||
		env.ClusterName() != "kubeadm-capd" {
		t.Errorf("workers %d and %d, name %s", other.Spec().Cluster.WorkerCount(), env.Spec().Cluster.WorkerCount(),
			env.ClusterName())
	}
	if _, err := env.WithOverrides(map[string]any{"cni": "flannel"}); err == nil {
		t.Error("a wrong override was taken")
	}
	after, err := env.Render(environment.Bootstrap, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the environment changed:\n%s", diff)
	}
}
