//go:build integration

package flux_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// The tag is there because the lab renders the archive from Flux's modules, which are downloaded; no server is needed.
func TestRenderTunesTheControllers(t *testing.T) {
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive,
		Environment: []flux.EnvironmentVariable{{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}}})
	if err != nil {
		t.Fatal(err)
	}
	var deployments []string
	kinds := map[string]int{}
	for _, o := range objects {
		kinds[o.GetKind()]++
		if o.GetKind() != "Deployment" {
			continue
		}
		deployments = append(deployments, o.GetName())
		if o.GetNamespace() != flux.Namespace || o.GetLabels()["app.kubernetes.io/version"] != flux.Version {
			t.Errorf("%s/%s has labels %v", o.GetNamespace(), o.GetName(), o.GetLabels())
		}
		container := firstContainer(t, o)
		args, _, _ := unstructured.NestedStringSlice(container, "args")
		if want := map[bool]string{true: "--concurrent=40", false: "--concurrent=8"}; !slices.Contains(args,
			want[o.GetName() == "kustomize-controller"]) {
			t.Errorf("%s: args %q", o.GetName(), args)
		}
		if period, _, _ := unstructured.NestedInt64(container, "readinessProbe", "periodSeconds"); period != 1 {
			t.Errorf("%s: looked at every %d seconds", o.GetName(), period)
		}
		// source-controller knows no such flag and would not start.
		if got, want := slices.Contains(args, "--requeue-dependency=2s"),
			o.GetName() != "source-controller"; got != want {
			t.Errorf("%s: a short requeue %t, want %t", o.GetName(), got, want)
		}
		const gates = "--feature-gates=CancelHealthCheckOnNewRevision=true,MigrateAPIVersion=true"
		if got, want := slices.Contains(args, gates), o.GetName() == "kustomize-controller"; got != want {
			t.Errorf("%s: has the feature gates: %t, want %t", o.GetName(), got, want)
		}
		env, _, _ := unstructured.NestedSlice(container, "env")
		if !slices.ContainsFunc(env, func(v any) bool {
			m, _ := v.(map[string]any)
			key, _, _ := unstructured.NestedString(m, "valueFrom", "secretKeyRef", "key")
			return m["name"] == "HTTPS_PROXY" && m["value"] == nil && key == "HTTPS_PROXY"
		}) {
			t.Errorf("%s: no proxy in %v", o.GetName(), env)
		}
	}
	slices.Sort(deployments)
	want := slices.Sorted(slices.Values(flux.Controllers()))
	if !slices.Equal(deployments, want) {
		t.Errorf("deployments %q, want %q", deployments, want)
	}
	if kinds["CustomResourceDefinition"] == 0 || kinds["Namespace"] != 1 {
		t.Errorf("kinds %v", kinds)
	}
}

func TestRenderRefusesWhatIsNoArchive(t *testing.T) {
	if _, err := flux.Render(flux.Options{Archive: []byte("<html>404</html>")}); err == nil {
		t.Error("no error")
	}
}

func firstContainer(t *testing.T, deployment *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) == 0 {
		t.Fatalf("%s: containers %v (%v)", deployment.GetName(), containers, err)
	}
	container, ok := containers[0].(map[string]any)
	if !ok {
		t.Fatalf("%s: its container is a %T", deployment.GetName(), containers[0])
	}
	return container
}
