package environment_test

import (
	"encoding/json"
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
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// charts has one component from a Helm repository, and one from a registry.
const charts = `
secret_fingerprint_key: key
components:
  shop:
    enabled: management-only
    dependsOn: [cert-manager]
    namespaces: [shop]
    spec:
      patches:
        - target: {kind: HelmRelease}
          patch: '[{"op": "add", "path": "/spec/install/crds", "value": "CreateReplace"}]'
    chart:
      url: https://charts.example.org/stable/
      name: shop
      version: 1.2.3
      auth: {username: robot, password: s3cret}
      values: {replicas: 2}
  depot:
    enabled: management-only
    dependsOn: [shop]
    namespaces: [depot, depot-jobs]
    chart:
      url: oci://registry.example.org:5000/charts
      name: depot
      version: 2.0.0+build.1
      auth: {username: robot, password: s3cret}
`

// chartObjects are the objects of the component NAME: those of the chart, and what Flux applies.
func chartObjects(t *testing.T, env *environment.Environment, name string, overrides map[string]any) (
	found []*unstructured.Unstructured) {
	t.Helper()
	objects, err := env.Render(environment.Management, overrides)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if called := object.GetName(); called == "chart-"+name || called == name ||
			called == environment.DebugValuesName ||
			strings.HasPrefix(called, "chart-") && strings.HasSuffix(called, "-"+name) {
			found = append(found, object)
		}
	}
	applied, err := newKustomizer(t).Apply(t.Context(), find(t, objects, "Kustomization", name), objects)
	if err != nil {
		t.Fatal(err)
	}
	return append(found, applied...)
}

func TestGoldenChart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "charts.yaml")
	if err := os.WriteFile(file, []byte(charts), 0o600); err != nil {
		t.Fatal(err)
	}
	env := load(t, environment.Options{ValuesFiles: []string{file}})
	for _, name := range []string{"shop", "depot"} {
		golden.Check(t, filepath.Join("chart", name+".yaml"), toYAML(t, chartObjects(t, env, name, nil)))
	}
}

// withChart are the values of a component `one` that is a Helm chart.
func withChart(more ...string) []string {
	return append([]string{"components.one.enabled=true", "components.one.namespaces={apps}",
		"components.one.chart.url=https://charts.example.org", "components.one.chart.name=shop",
		"components.one.chart.version=1.2.3"}, more...)
}

// A login for a chart is text, whatever it looks like.
func TestLoginOfAChart(t *testing.T) {
	env := load(t, environment.Options{Sets: withChart()})
	for _, text := range hostile {
		if strings.ContainsAny(text, "\n\t") {
			continue // refused
		}
		for url, want := range map[string]map[string]string{
			"https://charts.example.org": {"username": "robot", "password": text},
			"oci://charts.example.org":   nil,
		} {
			chart := map[string]any{"url": url, "auth": map[string]any{"username": "robot", "password": text}}
			objects := chartObjects(t, env, "one", map[string]any{"components": map[string]any{
				"one": map[string]any{"chart": chart}}})
			got, _, _ := unstructured.NestedStringMap(find(t, objects, "Secret", "chart-auth-one").Object, "stringData")
			if want == nil {
				var config struct {
					Auths map[string]struct{ Username, Password string }
				}
				if err := json.Unmarshal([]byte(got[".dockerconfigjson"]), &config); err != nil ||
					config.Auths["charts.example.org"].Password != text {
					t.Errorf("the registry's login is %+v (%v), want %q", config, err, text)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("login (-want +got):\n%s", diff)
			}
		}
	}
}

// Values of a chart reach it as they are, and are in a Secret alone; a change of them changes the HelmRelease.
func TestValuesOfAChart(t *testing.T) {
	env := load(t, environment.Options{Sets: withChart()})
	release := func(values map[string]any) (*unstructured.Unstructured, map[string]any) {
		chart := map[string]any{"values": values}
		objects := chartObjects(t, env, "one", map[string]any{"secret_fingerprint_key": "key",
			"debug_values": true, "components": map[string]any{"one": map[string]any{"chart": chart}}})
		secret, _, _ := unstructured.NestedString(find(t, objects, "Secret", "chart-values-one").Object, "stringData",
			"values.yaml")
		var got map[string]any
		if err := yaml.Unmarshal([]byte(secret), &got); err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if text, _ := json.Marshal(object); object.GetKind() != "Secret" && strings.Contains(string(text), "hunter2") {
				t.Errorf("%s holds a value of the chart", object.GetKind())
			}
		}
		return find(t, objects, "HelmRelease", "one"), got
	}
	values := map[string]any{"hunter2": "hunter2", "number": 1234567890123.0, "list": []any{}, "map": map[string]any{}}
	for i, text := range hostile {
		values[string(rune('a'+i))] = text
	}
	first, got := release(values)
	if diff := cmp.Diff(values, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	values["hunter2"] = "hunter2 too"
	if second, _ := release(values); cmp.Equal(first.Object["spec"], second.Object["spec"]) {
		t.Error("another value leaves the HelmRelease as it was: nobody would wait for it")
	}
}

func TestChartsAreRefused(t *testing.T) {
	const chart = "components.one.chart."
	for name, test := range map[string]struct {
		sets []string
		want string
	}{
		"a path":       {withChart("components.one.path=./x"), "components.one has both chart and path"},
		"a repository": {withChart("components.one.repo=x"), "components.one has both chart and repo"},
		"variables":    {withChart("components.one.substitute.X=1"), "has both chart and substitute"},
		"controllers": {withChart("components.one.controllers[0].deployment=d",
			"components.one.controllers[0].container=c"), "has both chart and controllers"},
		"another place": {withChart("components.one.spec.targetNamespace=x"), "components.one.spec.targetNamespace"},
		"another cluster": {withChart("components.one.spec.kubeConfig.secretRef.name=x"),
			"components.one.spec.kubeConfig"},
		"no namespace": {withChart("components.one.namespaces=null"), "has no namespace to be installed in"},
		"no url":       {withChart(chart + "url="), "components.one.chart.url is not the address"},
		"no name":      {withChart(chart + "name=null"), "components.one.chart has no name"},
		"no version":   {withChart(chart + "version=null"), "components.one.chart.version is not one version"},
		"a range":      {withChart(chart + "version=1.x"), "components.one.chart.version is not one version"},
		"a login in the url": {withChart(chart + "url=https://robot:hunter2@charts.example.org"),
			"components.one.chart.url holds credentials"},
		"a login in a registry": {withChart(chart + "url=oci://hunter2@charts.example.org"),
			"components.one.chart.url holds credentials"},
		"a query":           {withChart(chart + "url=https://charts.example.org?token=hunter2"), "is not the address"},
		"a scheme":          {withChart(chart + "url=file:///charts"), "is not the address"},
		"a path as address": {withChart(chart + "url=./charts"), "is not the address"},
		"http":              {withChart(chart + "url=http://charts.example.org"), "is an address over http"},
		"a user alone":      {withChart(chart + "auth.username=robot"), "needs both username and password"},
		"a password alone":  {withChart(chart + "auth.password=hunter2"), "needs both username and password"},
		"two logins": {withChart(chart+"auth.username=robot", chart+"auth.password=hunter2", chart+"auth.secret=s"),
			"has both secret and a login"},
		"a line break": {withChart(chart+"auth.username=robot", chart+"auth.password=hunter2\n"), "has a line break"},
		"a Secret that would be overwritten": {withChart(chart + "auth.secret=chart-values-one"),
			"which is the Secret that the chart makes"},
		"a CA without TLS": {withChart(chart+"url=http://charts.example.org", chart+"allow_http=true",
			chart+"ca="+ownCA), "components.one.chart.ca is for an address over TLS"},
		"a long name": {[]string{"components." + strings.Repeat("a", 54) + ".enabled=true", "components." +
			strings.Repeat("a", 54) + ".chart.url=https://c"}, "too long for the name of a Helm release"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(), Sets: test.sets})
			if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), test.want) ||
				fault.HintOf(err) == "" {
				t.Fatalf("%s: %v (hint %q), want %q", fault.CodeOf(err), err, fault.HintOf(err), test.want)
			}
			if strings.Contains(err.Error()+fault.HintOf(err), "hunter2") {
				t.Errorf("the message holds the password: %v", err)
			}
		})
	}
}

// A name that looks like a number stays a name.
func TestNameOfAChart(t *testing.T) {
	var sets []string
	for _, set := range withChart() {
		sets = append(sets, strings.Replace(set, ".one.", ".1e5.", 1))
	}
	release := find(t, chartObjects(t, load(t, environment.Options{Sets: sets}), "1e5", nil), "HelmRelease", "1e5")
	if name, _, err := unstructured.NestedString(release.Object, "spec", "releaseName"); err != nil || name != "1e5" {
		t.Errorf("the release is named %q (%v)", name, err)
	}
}

// Over http a chart comes only where the user accepts it, and says so; a registry is asked without TLS then.
func TestChartOverHTTP(t *testing.T) {
	for url, insecure := range map[string]bool{"http://charts.example.org": false, "oci://charts.example.org": true} {
		env := load(t, environment.Options{Sets: withChart("components.one.chart.url="+url,
			"components.one.chart.allow_http=true")})
		warnings, err := env.Warnings()
		if err != nil || !slices.ContainsFunc(warnings, func(w string) bool {
			return strings.Contains(w, "components.one.chart is read over http")
		}) {
			t.Errorf("%s: warnings %q (%v)", url, warnings, err)
		}
		for _, object := range chartObjects(t, env, "one", nil) {
			if got, _, _ := unstructured.NestedBool(object.Object, "spec", "insecure"); object.GetName() == "chart-one" &&
				got != insecure {
				t.Errorf("%s: insecure is %t", url, got)
			}
		}
	}
}

// A private authority's certificate, and a login of the user's own, go to the source of the chart.
func TestChartWithCA(t *testing.T) {
	env := load(t, environment.Options{Sets: withChart("components.one.chart.ca="+ownCA,
		"components.one.chart.auth.secret=mine")})
	objects := chartObjects(t, env, "one", nil)
	spec := find(t, objects, "HelmRepository", "chart-one").Object["spec"].(map[string]any)
	if diff := cmp.Diff([]any{map[string]any{"name": "mine"}, map[string]any{"name": "chart-ca-one"}},
		[]any{spec["secretRef"], spec["certSecretRef"]}); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
	if ca, _, _ := unstructured.NestedString(find(t, objects, "Secret", "chart-ca-one").Object, "stringData",
		"ca.crt"); ca != ownCA {
		t.Errorf("the Secret holds %q", ca)
	}
}
