package rollout

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	stuckMachine = `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, namespace: ns, labels: {cluster.x-k8s.io/cluster-name: a}},
  spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: d}},
  status: {conditions: [{type: InfrastructureReady, status: "True"}], deprecated: {v1beta1: {conditions: [{type: InfrastructureReady, status: "False"}]}}}}`
	stuckInfrastructure = `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachine, metadata: {name: d, namespace: ns},
  status: {conditions: [{type: Ready, status: "True"}], deprecated: {v1beta1: {conditions: [{type: Ready, status: "False", reason: WaitingForClusterInfrastructure}]}}}}`
)

func TestOutdatedConditionsAreDropped(t *testing.T) {
	for name, tc := range map[string]struct {
		machine, infrastructure string
		cluster                 string
		dropped                 bool
	}{
		"they contradict the current ones": {stuckMachine, stuckInfrastructure, "a", true},
		"another Cluster's machine":        {stuckMachine, stuckInfrastructure, "other", false},
		"the machine is not ready": {stuckMachine,
			`{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachine, metadata: {name: d, namespace: ns},
  status: {conditions: [{type: Ready, status: "False"}], deprecated: {v1beta1: {conditions: [{type: Ready, status: "False"}]}}}}`, "a", false},
		"what is current is about an older spec": {stuckMachine,
			`{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachine, metadata: {name: d, namespace: ns, generation: 2},
  status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}], deprecated: {v1beta1: {conditions: [{type: Ready, status: "False"}]}}}}`, "a", false},
		"the Machine agrees with itself": {`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, namespace: ns, labels: {cluster.x-k8s.io/cluster-name: a}},
  spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: d}}, status: {conditions: [{type: InfrastructureReady, status: "True"}]}}`, stuckInfrastructure, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			machine, infrastructure := parsed(t, tc.machine), parsed(t, tc.infrastructure)
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{machine.GroupVersionKind().GroupVersion(),
				infrastructure.GroupVersionKind().GroupVersion()})
			for _, o := range []*unstructured.Unstructured{machine, infrastructure} {
				mapper.Add(o.GroupVersionKind(), meta.RESTScopeNamespace)
			}
			scheme := runtime.NewScheme()
			scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2",
				Kind: "MachineList"}, &unstructured.UnstructuredList{})
			c := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(
				machine, infrastructure).WithStatusSubresource(infrastructure).Build()
			if err := dropOutdated(t.Context(), &kube.Cluster{Client: c, Name: "management"},
				Key{Namespace: "ns", Name: tc.cluster}); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(infrastructure), infrastructure); err != nil {
				t.Fatal(err)
			}
			_, there, _ := unstructured.NestedMap(infrastructure.Object, "status", "deprecated")
			if there == tc.dropped {
				t.Errorf("deprecated conditions are there: %v, want dropped: %v", there, tc.dropped)
			}
			if !there && len(infrastructure.Object["status"].(map[string]any)["conditions"].([]any)) != 1 {
				t.Error("a current condition was dropped, too")
			}
		})
	}
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
