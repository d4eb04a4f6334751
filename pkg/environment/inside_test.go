package environment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// inside has Flux in a workload cluster, and components of the user's own: a folder that needs Flux there, and a chart.
const inside = `
secret_fingerprint_key: key
registry_secret: {registry.example.com: {username: robot, password: s3cret}}
proxies: {https_proxy: "http://proxy:3128"}
components:
  flux: {enabled: true}
  fleet: {enabled: workload-only, path: ./kustomize-components/fleet, dependsOn: [flux]}
  shop:
    enabled: workload-only
    namespaces: [shop]
    dependsOn: [cluster]
    chart: {url: https://charts.example.org, name: shop, version: 1.2.3, auth: {username: robot, password: s3cret}, values: {replicas: 2}}
  depot:
    enabled: true
    workload: true
    namespaces: [depot]
    chart: {url: oci://registry.example.org/charts, name: depot, version: 1.2.3}
  here: {enabled: true, path: ./kustomize-components/here}
`

// withInside returns the options of the workload cluster team-a/shop of an environment, with Flux and more in it.
func withInside(t *testing.T, name string) environment.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "inside.yaml")
	if err := os.WriteFile(file, []byte(inside), 0o600); err != nil {
		t.Fatal(err)
	}
	return asWorkload(environment.Options{Name: name, Variables: variables(allVariables()),
		ValuesFiles: []string{file}})
}

// insideObjects are the objects of the release for flux and the user's own components, and what Flux applies for charts.
func insideObjects(t *testing.T, env *environment.Environment) (found []*unstructured.Unstructured) {
	t.Helper()
	objects, err := env.Render(environment.Workload, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if name := object.GetName(); slices.ContainsFunc([]string{"flux", "fleet", "shop", "depot", "here", "pull-secret",
			"proxy-variables"}, func(part string) bool { return strings.Contains(strings.TrimPrefix(name, "shop-"), part) }) {
			found = append(found, object)
		}
	}
	for _, name := range []string{"shop", "depot"} {
		applied, err := newKustomizer(t).Apply(t.Context(), find(t, objects, "Kustomization", "shop-"+name), objects)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, applied...)
	}
	return found
}

func TestGoldenInside(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "kubeadm-capo", "rke2-capd"} {
		golden.Check(t, filepath.Join("inside", name+".yaml"), toYAML(t, insideObjects(t, load(t, withInside(t, name)))))
	}
}

// All but its definition is applied to the workload cluster, also what the user leaves unsaid.
func TestComponentsOfAWorkloadClusterAreInIt(t *testing.T) {
	env := load(t, withInside(t, "kubeadm-capo"))
	objects, err := env.Render(environment.Workload, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"secretRef": map[string]any{"name": "shop-kubeconfig", "key": "value"}}
	charts := []string{"shop-shop", "shop-depot"}
	definition := []string{"shop-cluster", "shop-health-checks"}
	for _, object := range objects {
		name := object.GetName()
		if object.GetKind() != "Kustomization" || slices.Contains(definition, name) {
			continue
		}
		got, _, _ := unstructured.NestedMap(object.Object, "spec", "kubeConfig")
		if isChart := slices.Contains(charts, name); isChart && len(got) > 0 ||
			!isChart && !cmp.Equal(got, want) {
			t.Errorf("%s has kubeConfig %v", name, got)
		}
		if name == "shop-here" {
			t.Error("a component that is not for workload clusters is there")
		}
	}
	for _, name := range charts {
		applied, err := newKustomizer(t).Apply(t.Context(), find(t, objects, "Kustomization", name), objects)
		if err != nil {
			t.Fatal(err)
		}
		release := find(t, applied, "HelmRelease", strings.Replace(name, "-", ".", 1))
		got, _, _ := unstructured.NestedMap(release.Object, "spec", "kubeConfig")
		if !cmp.Equal(got, want) || release.GetNamespace() != "team-a" {
			t.Errorf("%s in %s has kubeConfig %v", release.GetName(), release.GetNamespace(), got)
		}
	}
}

func TestRefusedInside(t *testing.T) {
	long := strings.Repeat("a", 53)
	for name, tc := range map[string]struct {
		options environment.Options
		want    string
	}{
		"Flux in a management cluster": {environment.Options{Sets: []string{"components.flux.enabled=true"}},
			"components.flux.enabled is true, and it is for workload clusters"},
		"Flux in a bootstrap cluster": {environment.Options{Sets: []string{"components.flux.enabled=bootstrap-only"}},
			"components.flux.enabled is bootstrap-only, and it is for workload clusters"},
		"a name that fits": {asWorkload(environment.Options{Sets: []string{"components." + long + ".enabled=workload-only",
			"components." + long + ".path=./x"}}), ""},
		"a name too long with the cluster's": {environment.Options{Workload: true, Sets: []string{
			"cluster.name=a-longer-name", "components." + long + ".enabled=workload-only",
			"components." + long + ".path=./x"}}, "with the cluster's name before it"},
		"a dependency that is not there": {asWorkload(environment.Options{Sets: []string{
			"components.one.enabled=workload-only", "components.one.path=./x", "components.one.dependsOn={flux}"}}),
			`"one" depends on "flux", which is not enabled in phase workload`},
	} {
		tc.options.Name, tc.options.Content = "kubeadm-capd", clusterinit.Content()
		_, err := environment.Load(t.Context(), tc.options)
		if tc.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		code := fault.CodeOf(err)
		if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || code == fault.Unknown ||
			code == fault.ValuesInvalid && fault.HintOf(err) == "") {
			t.Errorf("%s: %s: %v (hint %q), want %q", name, code, err, fault.HintOf(err), tc.want)
		}
	}
}

// The release of Flux has more controllers. Those without an image in a bundle are not applied, nor their objects, and nothing
// sends events to the one of notifications.
func TestFluxComponent(t *testing.T) {
	files, _ := components(t)
	var text strings.Builder
	for _, name := range []string{"source", "kustomize", "helm", "notification", "image-reflector", "image-automation"} {
		text.WriteString(strings.ReplaceAll(fluxController, "NAME", name+"-controller"))
	}
	text.WriteString(strings.ReplaceAll(fluxController, "NAME", "source-watcher"))
	if err := files.WriteFile("/kustomize-components/flux/remote-0.yaml", []byte(text.String())); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/kustomize-components/flux")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, resource := range resources.Resources() {
		got = append(got, resource.GetKind()+" "+resource.GetName())
		if text, _ := resource.AsYAML(); strings.Contains(string(text), "notification") {
			t.Errorf("%s needs the controller of notifications:\n%s", resource.GetName(), text)
		}
	}
	slices.Sort(got)
	want := []string{"Deployment helm-controller", "Deployment kustomize-controller", "Deployment source-controller",
		"Service helm-controller", "Service kustomize-controller", "Service source-controller"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

// fluxController has the form of a controller in Flux's release.
const fluxController = `---
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: flux-system, labels: {app.kubernetes.io/component: NAME}}
spec: {ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: flux-system, labels: {app.kubernetes.io/component: NAME}}
spec:
  template:
    spec:
      containers:
        - name: manager
          args: ["--events-addr=http://notification-controller.flux-system.svc.cluster.local./", "--watch-all-namespaces=true"]
`
