package environment_test

import (
	"io/fs"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Helm refuses a whole release for one object that is there already and not its own: the cluster's namespace may be.
func TestANamespaceThatIsThereIsLeftAlone(t *testing.T) {
	own := map[string]any{"meta.helm.sh/release-name": "telco-cloud-init",
		"meta.helm.sh/release-namespace": "flux-system"}
	for name, tc := range map[string]struct {
		there       bool
		annotations map[string]any
		want        bool
	}{
		"there is none":        {false, nil, true},
		"made by the user":     {true, nil, false},
		"this release made it": {true, own, true},
		"another release has it": {true, map[string]any{"meta.helm.sh/release-name": "other",
			"meta.helm.sh/release-namespace": "flux-system"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []runtime.Object
			if tc.there {
				metadata := map[string]any{"name": "management"}
				if tc.annotations != nil {
					metadata["annotations"] = tc.annotations
				}
				objects = append(objects,
					&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
						"metadata": metadata}})
			}
			rendered, err := renderIn(t, load(t, environment.Options{}), inCluster{"namespaces",
				fake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(rendered["telco-cloud-init/templates/namespace.yaml"],
				"kind: Namespace"); got != tc.want {
				t.Errorf("rendered: %v, want %v", got, tc.want)
			}
		})
	}
}

// renderIn renders the chart of the management cluster as Helm does in a cluster.
func renderIn(t *testing.T, env *environment.Environment, in engine.ClientProvider) (map[string]string, error) {
	t.Helper()
	var files []*loader.BufferedFile
	const folder = "charts/telco-cloud-init"
	err := fs.WalkDir(clusterinit.Content(), folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(clusterinit.Content(), name)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(name, folder+"/"), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: environment.ReleaseName, Namespace: environment.Namespace, Revision: 1,
		IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, env.Values(environment.Management), release,
		chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	return engine.RenderWithClientProvider(chart, values, in)
}

// inCluster is a cluster that has objects of one resource.
type inCluster struct {
	resource string
	client   dynamic.Interface
}

func (c inCluster) GetClientFor(_, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource := strings.ToLower(kind) + "s"
	if resource != c.resource {
		resource = "none" // the fake has nothing of it
	}
	return c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}), resource == "secrets", nil
}
