package workload

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// component is the Kustomization of a component of the management cluster, with the Deployment that it applied.
func component(t *testing.T, release, name, ready string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"namespace":`+
		`"flux-system","name":"`+name+`","labels":{"helm.toolkit.fluxcd.io/name":"`+release+`",`+
		`"helm.toolkit.fluxcd.io/namespace":"flux-system","cluster-init.io/component":"`+name+`"}},"status":{`+
		`"conditions":[{"type":"Ready","status":"`+ready+`"}],"inventory":{"entries":[{"id":"`+name+`-system_`+name+
		`-controller-manager_apps_Deployment","v":"v1"},{"id":"_`+name+`-system__Namespace","v":"v1"}]}}}`)
}

func running(t *testing.T, namespace, name string, available int64) *unstructured.Unstructured {
	t.Helper()
	u := object(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"`+namespace+`","name":"`+name+
		`"},"spec":{"replicas":1}}`)
	if err := unstructured.SetNestedField(u.Object, available, "status", "availableReplicas"); err != nil {
		t.Fatal(err)
	}
	return u
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// apply refuses if a controller that the cluster needs does not act, or if that cannot be read.
func TestControllersMustAct(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Workload: true,
		Content: clusterinit.Content(), Variables: func(string) (string, bool) { return "", false },
		Sets: []string{"cluster.name=shop", "cluster.namespace=team-a"}})
	if err != nil {
		t.Fatal(err)
	}
	c := Cluster{Self: Key{"management", "mgmt"}, Environment: env}
	type objects = []*unstructured.Unstructured
	for name, tc := range map[string]struct {
		change func(objects) objects
		says   string // empty: not refused
	}{
		"all act": {func(o objects) objects { return o }, ""},
		"a provider has no Deployment": {func(o objects) objects { return without(o, "capd-controller-manager") },
			"Deployment capd-controller-manager does not exist (Deployment/capd-system/capd-controller-manager)"},
		"a provider has no replica": {func(o objects) objects {
			idle := running(t, "capd-system", "capd-controller-manager", 0)
			return append(without(o, "capd-controller-manager"), idle)
		}, "Deployment capd-controller-manager has 0 of 1 replicas available"},
		"Flux has no replica": {func(o objects) objects {
			return append(without(o, "helm-controller"), running(t, "flux-system", "helm-controller", 0))
		}, "Deployment helm-controller has 0 of 1 replicas available"},
		"Flux is gone": {func(o objects) objects { return without(o, "source-controller") },
			"Deployment source-controller does not exist"},
		"a provider that the cluster does not need": {func(o objects) objects {
			return append(o, component(t, "telco-cloud-init", "capo", "True"))
		}, ""},
		"a component of another release": {func(o objects) objects {
			return append(o, component(t, "shop", "cabpk", "True"), running(t, "team-a", "capd-controller-manager", 0))
		}, ""},
		"a component that is not ready, which another check refuses": {func(o objects) objects {
			return append(without(without(o, "capd-controller-manager"), "capd"),
				component(t, "telco-cloud-init", "capd", "False"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var all objects
			for _, name := range []string{"capi", "cabpk", "capd"} {
				all = append(all, component(t, "telco-cloud-init", name, "True"),
					running(t, name+"-system", name+"-controller-manager", 1))
			}
			for _, name := range flux.Controllers() {
				all = append(all, running(t, flux.Namespace, name, 1))
			}
			err := c.judgeControllers(readiness.Observation{Objects: tc.change(all), Kinds: observedKinds(),
				At: time.Now()})
			switch {
			case tc.says == "" && err != nil:
				t.Error(err)
			case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says) ||
				fault.CodeOf(err) != fault.ComponentStuck ||
				!strings.Contains(fault.HintOf(err), "cluster-init diagnose ENV")):
				t.Errorf("%v, hint %q, want %q", err, fault.HintOf(err), tc.says)
			}
		})
	}
	for _, kind := range observedKinds() {
		seen := readiness.Observation{NotChecked: []string{kind.Kind + ": forbidden"},
			Kinds: slices.DeleteFunc(observedKinds(), func(k schema.GroupKind) bool { return k == kind })}
		if err := c.judgeControllers(seen); fault.CodeOf(err) != fault.ClusterUnreachable ||
			!strings.Contains(err.Error(), kind.Kind+": forbidden") {
			t.Errorf("%s was not read: %v", kind.Kind, err)
		}
	}
}

func without(all []*unstructured.Unstructured, name string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(all), func(u *unstructured.Unstructured) bool { return u.GetName() == name })
}

// observedKinds are the kinds that show whether a controller acts.
func observedKinds() []schema.GroupKind {
	return []schema.GroupKind{{Kind: "Node"}, {Kind: "Pod"}, {Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "DaemonSet"}, {Group: "coordination.k8s.io", Kind: "Lease"}, kustomizations()}
}
