package workload

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// decode reads a list of objects from a file, with numbers as an API server's answer has them.
func decode(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	var list []*unstructured.Unstructured
	for _, each := range raw {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(each); err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}

// world is an observation that a test changes.
type world struct {
	*testing.T
	readiness.Observation
}

// healthyWorld is a management cluster in which nothing is wrong.
func healthyWorld(t *testing.T) *world {
	t.Helper()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	w := &world{T: t, Observation: readiness.Observation{Cluster: "management", At: noon, Local: noon,
		Objects: decode(t, "../readiness/testdata/healthy.yaml")}}
	w.remove("Kustomization/flux-system/capi")
	w.object("Deployment/capi-system/capi-controller-manager").SetLabels(map[string]string{
		"kustomize.toolkit.fluxcd.io/name": "capi", "cluster.x-k8s.io/provider": "cluster-api"})
	w.set("Deployment/capi-system/capi-controller-manager", map[string]any{"app": "capi"}, "spec", "template",
		"metadata", "labels")
	w.Objects = append(w.Objects, decode(t, "testdata/providers.yaml")...)
	seen := map[schema.GroupKind]bool{}
	for _, u := range w.Objects {
		if kind := u.GroupVersionKind().GroupKind(); !seen[kind] {
			w.Kinds, seen[kind] = append(w.Kinds, kind), true
		}
	}
	return w
}

func (w *world) object(name string) *unstructured.Unstructured {
	for _, u := range w.Objects {
		if health.RefOf(u).String() == name {
			return u
		}
	}
	w.Fatalf("no %s", name)
	return nil
}

func (w *world) set(name string, value any, path ...string) {
	if err := unstructured.SetNestedField(w.object(name).Object, value, path...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) remove(name string) {
	gone := w.object(name)
	w.Objects = slices.DeleteFunc(w.Objects, func(u *unstructured.Unstructured) bool { return u == gone })
}

// down says of a Deployment that it has had no available replica for ten minutes.
func (w *world) down(name string) {
	w.set(name, int64(0), "status", "availableReplicas")
	w.set(name, []any{map[string]any{"type": "Available", "status": "False",
		"lastTransitionTime": "2026-01-01T11:50:00Z"}}, "status", "conditions")
}

// Each row is one change of a healthy management cluster whose Cluster says Available. A controller that the cluster
// needs is named if it does not act; what others need does not count.
func TestControllersMustAct(t *testing.T) {
	const capi = "Deployment/capi-system/capi-controller-manager"
	const capd = "Deployment/capd-system/capd-controller-manager"
	deployment := func(name string) health.Ref {
		return health.Ref{Group: "apps", Kind: "Deployment", Namespace: "capd-system", Name: name}
	}
	for name, row := range map[string]struct {
		change func(*world)
		says   string // "": it is not refused
		code   fault.Code
	}{
		"healthy": {func(*world) {}, "", ""},
		"core has no replica": {func(w *world) { w.down(capi) },
			capi + " of the management cluster management/mgmt does not act", fault.ComponentStuck},
		"the infrastructure provider was scaled to 0": {func(w *world) { w.set(capd, int64(0), "spec", "replicas") },
			capd, fault.ComponentStuck},
		"the infrastructure provider was deleted": {func(w *world) {
			w.remove(capd)
			w.Missing = []readiness.Applied{{Object: deployment("capd-controller-manager"),
				By: health.RefOf(w.object("Kustomization/flux-system/capd"))}}
		}, capd, fault.ComponentStuck},
		"Flux applies no release": {func(w *world) { w.down("Deployment/flux-system/helm-controller") },
			"Deployment/flux-system/helm-controller", fault.ComponentStuck},
		"Flux fetches no source": {func(w *world) { w.remove("Deployment/flux-system/source-controller") },
			"Deployment/flux-system/source-controller", fault.ComponentStuck},
		"core runs and has not renewed its Lease": {func(w *world) {
			w.set("Lease/capi-system/controller-leader-election-capi", "2026-01-01T11:50:00.000000Z", "spec",
				"renewTime")
		}, capi, fault.ComponentStuck},
		"the webhooks of core have no endpoint": {func(w *world) {
			w.set("EndpointSlice/capi-system/capi-1", []any{}, "endpoints")
		}, capi, fault.ComponentStuck},
		"a webhook does not answer although its Pod is ready": {func(w *world) {
			w.Probes = append(w.Probes, readiness.Probe{Kind: readiness.DryRunCreate,
				Object: health.Ref{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Namespace: "team-b",
					Name: "till"}, Message: `Internal error occurred: failed calling webhook ` +
					`"default.devcluster.infrastructure.cluster.x-k8s.io": context deadline exceeded`})
		}, capd, fault.ComponentStuck},
		"core may not read Clusters": {func(w *world) {
			w.Probes = append(w.Probes, readiness.Probe{Kind: readiness.Permission, Message: "list clusters",
				Object: health.Ref{Kind: "ServiceAccount", Namespace: "capi-system", Name: "capi-manager"}})
		}, capi, fault.ComponentStuck},
		"Pods could not be listed": {func(w *world) {
			w.Kinds = slices.DeleteFunc(w.Kinds, func(k schema.GroupKind) bool { return k.Kind == "Pod" })
			w.NotChecked = []string{"pods of the management cluster: timeout"}
		}, "pods of the management cluster: timeout", fault.ClusterUnreachable},
		"the provider of other clusters has no replica": {func(w *world) {
			w.down("Deployment/capo-system/capo-controller-manager")
		}, "", ""},
		"the machine of another cluster is paused": {func(w *world) {
			w.object("Machine/default/demo-cp").SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": ""})
		}, "", ""},
		"a webhook refuses an object of another cluster": {func(w *world) {
			w.Probes = append(w.Probes, readiness.Probe{Kind: readiness.DryRunUpdate,
				Object: health.Ref{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevCluster", Namespace: "team-b",
					Name: "till"}, Message: `admission webhook "default.devcluster.infrastructure.cluster.x-k8s.io" ` +
					`denied the request: spec.template is immutable`})
		}, "", ""},
	} {
		w := healthyWorld(t)
		row.change(w)
		c := Cluster{Environment: shop(t), Self: Key{"management", "mgmt"}, Argument: "mgmt-env"}
		err := c.judgeControllers(w.Observation)
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%s: refused: %v", name, err)
		case row.says != "" && (fault.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says)):
			t.Errorf("%s: %v with code %s, want %q with %s", name, err, fault.CodeOf(err), row.says, row.code)
		case row.code == fault.ComponentStuck && (strings.Contains(err.Error(), "\n") ||
			fault.HintOf(err) != "Find the cause: cluster-init diagnose mgmt-env"):
			t.Errorf("%s: hint %q of %v", name, fault.HintOf(err), err)
		}
	}
}
