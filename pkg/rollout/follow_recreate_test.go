package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// firstMachine is a control plane whose first machine was made of an older template, and has not come up.
const firstMachine = `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {namespace: management, name: cp, uid: cp, generation: 2, labels: {cluster.x-k8s.io/cluster-name: c}}
spec: {machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: new}}}}
status: {conditions: [{type: Initialized, status: "False"}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {namespace: management, name: c}
spec: {paused: false}
status: {initialization: {controlPlaneInitialized: false}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {namespace: management, name: m, uid: m, ownerReferences: [{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlane, name: cp, uid: cp}]}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: m}}
status: {phase: Provisioning}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {namespace: management, name: worker, uid: w}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: w}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachine
metadata: {namespace: management, name: m, annotations: {cluster.x-k8s.io/cloned-from-name: old}}
`

func TestRenew(t *testing.T) {
	const twin = `
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {namespace: management, name: m2, uid: m2, ownerReferences: [{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlane, name: cp, uid: cp}]}
`
	replace := strings.ReplaceAll
	for name, tc := range map[string]struct {
		objects string
		fails   string // kind that is not answered for
		want    string
		err     bool
	}{
		"made of another template":  {objects: firstMachine, want: "m"},
		"made of the same template": {objects: replace(firstMachine, "name: old", "name: new")},
		"of the older contract": {objects: replace(
			replace(firstMachine, "machineTemplate: {spec: {infrastructureRef:",
				"machineTemplate: {infrastructureRef:"), "name: new}}}}", "name: new}}}"), want: "m"},
		"with another configuration": {objects: replace(replace(firstMachine, "name: old", "name: new"),
			"phase: Provisioning}", "phase: Provisioning, conditions: [{type: UpToDate, status: \"False\"}]}"),
			want: "m"},
		"its template is not known": {objects: replace(firstMachine, "cluster.x-k8s.io/cloned-from-name: old",
			"a: b")},
		"its infrastructure is not seen": {objects: replace(firstMachine, "kind: DevMachine, name: m}",
			"kind: DevMachine, name: gone}")},
		"it was initialized": {objects: replace(firstMachine, `{type: Initialized, status: "False"}`,
			`{type: Initialized, status: "True"}`)},
		"it was, in the older contract": {objects: replace(firstMachine, "status: {conditions",
			"status: {initialized: true, conditions")},
		"it has a node": {objects: replace(firstMachine, "phase: Provisioning}",
			"phase: Provisioning, nodeRef: {name: n}}")},
		"it is paused": {objects: replace(firstMachine, "generation: 2, labels",
			"generation: 2, annotations: {cluster.x-k8s.io/paused: \"\"}, labels")},
		"it has no status yet": {objects: replace(firstMachine,
			`status: {conditions: [{type: Initialized, status: "False"}]}`, "status: {}")},
		"the machine has no status yet": {objects: replace(firstMachine, "status: {phase: Provisioning}",
			"status: {}")},
		"the machine runs":      {objects: replace(firstMachine, "phase: Provisioning", "phase: Running")},
		"the cluster is paused": {objects: replace(firstMachine, "paused: false", "paused: true")},
		"the cluster was initialized": {objects: replace(firstMachine, "controlPlaneInitialized: false",
			"controlPlaneInitialized: true")},
		"the cluster is unknown":        {objects: firstMachine, fails: "Cluster", err: true},
		"there are two":                 {objects: firstMachine + twin},
		"the control plane is unknown":  {objects: firstMachine, fails: "KubeadmControlPlane", err: true},
		"its infrastructure is unknown": {objects: firstMachine, fails: "DevMachine", err: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := inMemory(t, tc.objects, tc.fails)
			seen := &unstructured.Unstructured{}
			seen.SetGroupVersionKind(schema.GroupVersionKind{Group: controlPlaneGroup, Version: "v1beta2",
				Kind: "KubeadmControlPlane"})
			seen.SetNamespace("management")
			seen.SetName("cp")
			got, err := recreateFirstMachine(t.Context(), c, seen)
			if got != tc.want || (err != nil) != tc.err {
				t.Fatalf("%q, %v", got, err)
			}
			for name, gone := range map[string]bool{"m": tc.want != "", "worker": false} {
				machine := &unstructured.Unstructured{}
				machine.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2",
					Kind: "Machine"})
				if err := c.Get(t.Context(), client.ObjectKey{Namespace: "management", Name: name},
					machine); apierrors.IsNotFound(err) != gone {
					t.Errorf("machine %s: %v", name, err)
				}
			}
		})
	}
}

// inMemory is a cluster in memory that does not answer for one kind.
func inMemory(t *testing.T, manifests, silent string) *kube.Cluster {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(
		[]schema.GroupVersion{{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}})
	scheme := runtime.NewScheme()
	if err := kustomizev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper)
	for _, text := range strings.Split(manifests, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		mapper.Add(o.GroupVersionKind(), meta.RESTScopeNamespace)
		builder = builder.WithObjects(o)
	}
	return &kube.Cluster{Name: "bootstrap", Client: builder.WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, o client.Object,
			options ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == silent {
				return errors.New("no answer")
			}
			return from.Get(ctx, key, o, options...)
		}}).Build()}
}

// Control planes of other clusters are left alone, whatever they say.
func TestActsOnItsOwnClusterOnly(t *testing.T) {
	f := NewFollower(inMemory(t, firstMachine, "KubeadmControlPlane"),
		Options{Cluster: Key{"Cluster", "management", "c"}, Renew: true})
	for _, of := range []struct {
		namespace, cluster string
		acts               bool
	}{{"other", "c", false}, {"management", "d", false}, {"management", "", false}, {"management", "c", true}} {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: controlPlaneGroup, Version: "v1beta2",
			Kind: "KubeadmControlPlane"})
		o.SetNamespace(of.namespace)
		o.SetName("gone")
		o.SetLabels(map[string]string{clusterLabel: of.cluster})
		_, renewed := f.renew(t.Context(), o)
		// it acts, and finds nothing
		if woken := f.wake(t.Context(), o); (renewed != nil) != of.acts || (woken != nil) != of.acts {
			t.Errorf("of %s/%s: %v, %v", of.namespace, of.cluster, renewed, woken)
		}
	}
}
