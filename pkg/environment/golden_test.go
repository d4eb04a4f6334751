package environment_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// variables is a lookup over a fixed map: no test reads the shell that runs it.
func variables(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := values[name]; return value, ok }
}

// allVariables is all that any environment asks for.
func allVariables() map[string]string {
	all := awsVariables()
	maps.Copy(all, openstackVariables())
	return all
}

func load(t *testing.T, options environment.Options) *environment.Environment {
	t.Helper()
	if options.Content == nil {
		options.Content = clusterinit.Content()
	}
	if options.Name == "" {
		options.Name = "kubeadm-capd"
	}
	env, err := environment.Load(t.Context(), options)
	if err != nil {
		t.Fatalf("load %s: %v", options.Name, err)
	}
	return env
}

func toYAML(t *testing.T, objects []*unstructured.Unstructured) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes()
}

// full uses every feature of the values that adds objects or patches.
const full = `
debug_values: true
registry_secret:
  registry.example.com: {username: robot, password: s3cret}
proxies: {http_proxy: "http://user:pw@proxy:3128", https_proxy: "http://proxy:3128", no_proxy: "example.com, 10.0.0.0/8"}
git_auth_default: {username: me, password: token, hosts: [git.example.com]}
git_repo_templates:
  shared: {url: https://git.example.com/shared.git, ref: {tag: v1}}
  group: {base_url: https://git.example.com/group/, auth: {secret: my-own}}
  public: {url: https://git.example.com/public.git, auth: {}}
cluster:
  worker: {replicas: 2}
  backup:
    image: registry.example.com/cluster-init:v1
    recipients: [ssh-ed25519 AAAA me]
    volume: {persistentVolumeClaim: {claimName: backups}}
  control_plane: {replicas: 3, schedulable: false}
  registry_mirrors:
    - {host: registry.k8s.io, url: "http://mirror:5000/v2/registry.k8s.io", override_path: true}
components:
  backup: {enabled: true}
  capi:
    labels: {team: core}
    spec: {wait: false, suspend: true, timeout: null, patches: [{patch: "[]", target: {kind: Namespace}}]}
  one: {enabled: management-only, repo: shared, path: ./one, dependsOn: [capi], substitute: {N: 3, NAME: '{{ .Values.cluster.name }}'}}
  two: {enabled: true, repo: shared, ref_override: {branch: next}}
  three: {enabled: bootstrap-only, repo: group}
  four: {enabled: true, repo: public}
source: {kind: GitRepository, name: telco-cloud-init, spec: {url: https://git.example.com/content.git, ref: {commit: abc}}}
`

// everyEnvironment returns the options of every built-in environment, and of "full".
func everyEnvironment(t *testing.T) map[string]environment.Options {
	t.Helper()
	fullFile := filepath.Join(t.TempDir(), "full.yaml")
	if err := os.WriteFile(fullFile, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]environment.Options{"full": {ValuesFiles: []string{fullFile}}}
	for _, name := range environment.List(clusterinit.Content()) {
		all[name] = environment.Options{Name: name, Variables: variables(allVariables())}
	}
	return all
}

// asWorkload returns the options of the workload cluster team-a/shop with the same environment.
func asWorkload(options environment.Options) environment.Options {
	options.Workload = true
	options.Sets = append(slices.Clone(options.Sets), "cluster.name=shop", "cluster.namespace=team-a")
	return options
}

func TestGoldenRenders(t *testing.T) {
	for name, options := range everyEnvironment(t) {
		management, workload := load(t, options), load(t, asWorkload(options))
		for phase, env := range map[environment.Phase]*environment.Environment{environment.Bootstrap: management,
			environment.Management: management, environment.Workload: workload} {
			t.Run(name+"/"+string(phase), func(t *testing.T) {
				objects, err := env.Render(phase, nil)
				if err != nil {
					t.Fatal(err)
				}
				golden.Check(t, filepath.Join("render", name+"."+string(phase)+".yaml"), toYAML(t, objects))
			})
		}
	}
}
