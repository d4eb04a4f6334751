package environment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

func TestList(t *testing.T) {
	if diff := cmp.Diff([]string{"kubeadm-capa", "kubeadm-capd", "kubeadm-capo", "rke2-capd", "rke2-capo"},
		environment.List(clusterinit.Content())); diff != "" {
		t.Error(diff)
	}
}

func TestComponentsOfAPhase(t *testing.T) {
	env := load(t, environment.Options{Sets: []string{"registry_secret.example.username=a",
		"registry_secret.example.password=b"}})
	cases := map[string]struct {
		phase     environment.Phase
		overrides map[string]any
		want      []string
	}{
		"bootstrap": {environment.Bootstrap, nil, []string{"cabpk", "capd", "capi", "cert-manager", "cluster", "cni"}},
		"management": {environment.Management, nil, []string{"cabpk", "capd", "capi", "cert-manager", "cluster",
			"cni", "health-checks"}},
		"before the pivot": {environment.Management,
			map[string]any{"components": map[string]any{"cluster": map[string]any{"enabled": false}}},
			[]string{"cabpk", "capd", "capi", "cert-manager", "cni"}},
		"no network": {environment.Bootstrap, map[string]any{"cni": "none"},
			[]string{"cabpk", "capd", "capi", "cert-manager", "cluster"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := env.Render(test.phase, test.overrides)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				// pull secrets are Kustomizations too
				if object.GetKind() != "Kustomization" || object.GetLabels()[owned.ComponentLabel] == "" {
					continue
				}
				got = append(got, object.GetName())
				spec, _ := object.Object["spec"].(map[string]any)
				if spec["timeout"] == nil || spec["path"] == nil {
					t.Errorf("incomplete: %+v", spec)
				}
				want := "flux-system"
				if object.GetName() == "cni" && test.phase == environment.Bootstrap {
					want = "management"
				}
				if object.GetNamespace() != want {
					t.Errorf("%s is in %s, want %s", object.GetName(), object.GetNamespace(), want)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
			if test.overrides != nil {
				return
			}
			components, err := env.Components(test.phase)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, component := range components {
				names = append(names, component.Name)
				if component.Source != environment.ReleaseName ||
					!strings.HasPrefix(component.Path, "./kustomize-components/"+component.Name) {
					t.Errorf("%+v", component)
				}
			}
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
		})
	}
}

// After the pivot the management cluster applies its own definition. If that differed from what the bootstrap
// cluster applied, it would start by replacing its own machines.
func TestClusterDefinitionIsTheSameInBothPhases(t *testing.T) {
	env := load(t, environment.Options{Sets: []string{
		"cluster.registry_mirrors[0].host=a", "cluster.registry_mirrors[0].url=http://b",
		"proxies.http_proxy=http://proxy",
	}})
	definition := func(phase environment.Phase) map[string]any {
		objects, err := env.Render(phase, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == "Kustomization" && object.GetName() == "cluster" {
				spec, _, err := unstructured.NestedMap(object.Object, "spec")
				if err != nil {
					t.Fatal(err)
				}
				// How soon Flux retries is no part of the definition: the bootstrap cluster lives for minutes.
				want := map[environment.Phase]string{environment.Bootstrap: "5s", environment.Management: "30s"}[phase]
				if spec["retryInterval"] != want {
					t.Errorf("phase %s: retryInterval %v, want %s", phase, spec["retryInterval"], want)
				}
				delete(spec, "retryInterval")
				return spec
			}
		}
		t.Fatalf("phase %s has no cluster", phase)
		return nil
	}
	if diff := cmp.Diff(definition(environment.Bootstrap), definition(environment.Management)); diff != "" {
		t.Errorf("(-bootstrap +management):\n%s", diff)
	}
}

func TestTemplateHashFollowsTheMachines(t *testing.T) {
	hash := func(sets ...string) string {
		objects, err := load(t, environment.Options{Sets: sets}).Render(environment.Management, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if hash, ok, _ := unstructured.NestedString(object.Object, "spec", "postBuild", "substitute",
				"TEMPLATE_HASH"); ok {
				return hash
			}
		}
		t.Fatal("no TEMPLATE_HASH")
		return ""
	}
	base := hash()
	for set, changes := range map[string]bool{
		"cluster.worker.replicas=3": false, "cluster.control_plane.replicas=3": false, "debug_values=true": false,
		"components.cluster.spec.suspend=true": false,
		"cluster.image=x":                      true, "cluster.kubernetes_version=v1.36.2": true,
		"proxies.http_proxy=http://p":       true,
		"cluster.bootstrap_format=ignition": true, "cluster.rke2.image=x": false,
		"cluster.docker_socket=/x": true, "cluster.fail_cgroup_v1=true": true,
		"components.cluster.spec.patches[0].patch=x": true,
	} {
		if got := hash(set) != base; got != changes {
			t.Errorf("--set %s: new templates %v, want %v", set, got, changes)
		}
	}
}

func TestOwnFolderBesideTheBase(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": onBase,
		"values.yaml": "cluster: {name: from-content}\ncomponents: {capd: {enabled: true}, cluster: {enabled: true}}\n"})
	env := load(t, environment.Options{Name: own, Variables: variables(map[string]string{"GITLAB_TOKEN": "t"})})
	if env.Name() != "mine" || env.ClusterName() != "from-content" {
		t.Errorf("name %s, cluster %s", env.Name(), env.ClusterName())
	}
	if got := at(env.Values(environment.Management), "git_auth_default.password"); got != "t" {
		t.Errorf("the content's base was not used: password %v", got)
	}

	// A base on the disk goes before that of the content.
	base := filepath.Join(filepath.Dir(own), "base")
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"kustomization.yaml": secretsOf, "values.yaml": "",
		"secrets.yaml": "git_auth_default: {password: disk}\n", "infra.yaml": "{}\n"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env = load(t, environment.Options{Name: own})
	if got := at(env.Values(environment.Management), "git_auth_default.password"); got != "disk" {
		t.Errorf("the disk's base was not used: password %v", got)
	}
}

func TestAccessorsFollowTheChart(t *testing.T) {
	env := load(t, environment.Options{
		Sets:      []string{"cluster.worker.replicas=2", "cluster.control_plane.replicas=3"},
		Variables: variables(map[string]string{"DOCKER_HOST": "unix:///run/user/1/docker.sock", "no_proxy": "x"}),
	})
	objects, err := env.Render(environment.Bootstrap, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() != "Kustomization" || object.GetName() != "cluster" {
			continue
		}
		substitute, _, _ := unstructured.NestedStringMap(object.Object, "spec", "postBuild", "substitute")
		for variable, got := range map[string]string{
			"NODE_IMAGE": env.Spec().Cluster.NodeImage(), "DOCKER_SOCKET": env.Spec().Cluster.DockerSocket(),
			"CLUSTER_NAME": env.ClusterName(), "KUBERNETES_VERSION": env.KubernetesVersion(),
		} {
			// In a manifest they are YAML.
			var text string
			if err := yaml.Unmarshal([]byte(substitute[variable]), &text); err != nil || text != got {
				t.Errorf("%s is %q in the chart, %q here (%v)", variable, text, got, err)
			}
		}
	}
	if env.Spec().Cluster.DockerSocket() != "/run/user/1/docker.sock" {
		t.Errorf("socket %s", env.Spec().Cluster.DockerSocket())
	}
	got := []any{env.ClusterNamespace(), env.InfraProvider(), env.Spec().Cluster.BootstrapProvider,
		env.Spec().Cluster.ControlPlane.Replicas, env.Spec().Cluster.Worker.Count(), env.Spec().Proxies.NoProxy}
	if diff := cmp.Diff([]any{"management", "capd", "kubeadm", 3, 2, "x"}, got); diff != "" {
		t.Error(diff)
	}
	if text := env.PhaseValues(environment.Bootstrap).Data["values.yaml"]; text == "" {
		t.Error("no bootstrap values")
	}
}
