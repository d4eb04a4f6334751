package selfmanaged_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

// fluxAndNodes is what a self-managed cluster holds besides its definition.
const fluxAndNodes = `
- {apiVersion: v1, kind: Node, metadata: {name: mgmt-cp-a}, spec: {providerID: "docker:////mgmt-cp-a"},
   status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: mgmt-md-1-b}, spec: {providerID: "docker:////mgmt-md-1-b"},
   status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: cluster, namespace: flux-system, generation: 2},
   spec: {suspend: false}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 2}]}}
- {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: capi, namespace: flux-system, generation: 1},
   spec: {suspend: false}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", observedGeneration: 1}]}}
`

var scope = clusters.Scope{Namespace: fixture.Namespace, Cluster: fixture.Cluster}

func selfManagedClient(t *testing.T, objects []*unstructured.Unstructured, edits ...fixture.Edit) client.Client {
	t.Helper()
	var more []*unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(fluxAndNodes), &more); err != nil {
		t.Fatal(err)
	}
	var extra []client.Object
	for _, u := range more {
		gone := false
		for _, edit := range edits {
			edit(u)
			gone = gone || u.GetName() == ""
		}
		if !gone {
			extra = append(extra, u)
		}
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range append(fixture.Kinds(), fixture.ClassKind) {
		crds = append(crds, fixture.CRDOf(gvk))
	}
	c, err := fixture.FakeClient(crds, extra...)
	if err != nil {
		t.Fatal(err)
	}
	if err := fixture.Create(t.Context(), c, fixture.Namespace, objects, edits...); err != nil {
		t.Fatal(err)
	}
	return c
}

// condition returns an edit that sets the only condition of an object.
func condition(kind, name, conditionType, status, message string) fixture.Edit {
	return fixture.Set(kind, name, []any{map[string]any{
		"type": conditionType, "status": status, "reason": "Because", "message": message,
	}}, "status", "conditions")
}

// observed is a condition that is true of a generation.
func observed(kind, name, conditionType string, generation int64) fixture.Edit {
	return fixture.Set(kind, name, []any{map[string]any{
		"type": conditionType, "status": "True", "reason": "Because", "observedGeneration": generation,
	}}, "status", "conditions")
}

func TestSelfManaged(t *testing.T) {
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: "flux-system", Name: name} }
	rows := map[string]struct {
		edits  []fixture.Edit
		empty  bool
		wanted []client.ObjectKey
		want   []selfmanaged.Unmet // Message is a part of the whole text
	}{
		"all is well": {},
		"its Cluster is not there": {empty: true, want: []selfmanaged.Unmet{
			{Aspect: selfmanaged.AspectCluster, Object: "Cluster management/mgmt", Message: "not in its own API"},
			{Aspect: selfmanaged.AspectMachines, Object: "Cluster management/mgmt", Message: "no Machines", Waiting: true},
		}},
		"its Cluster is paused": {
			edits: []fixture.Edit{fixture.Set("Cluster", "mgmt", true, "spec", "paused")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectCluster, Object: "Cluster management/mgmt",
				Message: "is paused"}},
		},
		"its Cluster is not Available": {
			edits: []fixture.Edit{condition("Cluster", "mgmt", "Available", "False", "no workers")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectCluster, Object: "Cluster management/mgmt",
				Message: "Available=False: no workers", Waiting: true}},
		},
		"its Cluster is Available, and so was it before its spec changed": {
			edits: []fixture.Edit{generation("Cluster", "mgmt", 3, 3), observed("Cluster", "mgmt", "Available", 2)},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectCluster, Object: "Cluster management/mgmt",
				Message: "Available is about an older version of the spec", Waiting: true}},
		},
		"its Cluster is Available in its latest spec": {edits: []fixture.Edit{generation("Cluster", "mgmt", 3, 3),
			observed("Cluster", "mgmt", "Available", 3)}},
		"a machine was ready before its spec changed": {
			edits: []fixture.Edit{generation("Machine", "mgmt-cp-a", 3, 3), observed("Machine", "mgmt-cp-a", "Ready",
				2)},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectMachines, Object: "Machine management/mgmt-cp-a",
				Message: "Ready is about an older version of the spec", Waiting: true}},
		},
		"a machine is ready in its latest spec": {edits: []fixture.Edit{generation("Machine", "mgmt-cp-a", 3, 3),
			observed("Machine", "mgmt-cp-a", "Ready", 3)}},
		"status was not yet written after the move": {
			edits: []fixture.Edit{fixture.Unset("Cluster", "mgmt", "status"),
				fixture.Unset("KubeadmControlPlane", "mgmt-cp", "status")},
			want: []selfmanaged.Unmet{
				{Aspect: selfmanaged.AspectCluster, Object: "Cluster management/mgmt", Message: "no Available condition yet",
					Waiting: true},
				{Aspect: selfmanaged.AspectControlPlane, Object: "KubeadmControlPlane management/mgmt-cp",
					Message: "no Available condition yet", Waiting: true},
			},
		},
		"its control plane is not Available": {
			edits: []fixture.Edit{condition("KubeadmControlPlane", "mgmt-cp", "Available", "False", "etcd")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectControlPlane, Object: "KubeadmControlPlane management/mgmt-cp",
				Message: "etcd", Waiting: true}},
		},
		"its control plane only knows Ready": {
			edits: []fixture.Edit{condition("KubeadmControlPlane", "mgmt-cp", "Ready", "True", "")},
		},
		"a machine is not ready": {
			edits: []fixture.Edit{condition("Machine", "mgmt-cp-a", "Ready", "False", "boom")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectMachines, Object: "Machine management/mgmt-cp-a",
				Message: "boom",
				Waiting: true}},
		},
		"a machine has no node": {
			edits: []fixture.Edit{fixture.Unset("Machine", "mgmt-cp-a", "status", "nodeRef")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectMachines, Object: "Machine management/mgmt-cp-a",
				Message: "no node", Waiting: true}},
		},
		"the node is one of another cluster": {
			edits: []fixture.Edit{fixture.Set("Node", "mgmt-cp-a", "", "metadata", "name")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectNodes, Object: "Node mgmt-cp-a",
				Message: "not one of this cluster", Waiting: true}},
		},
		"the node has another provider ID": {
			edits: []fixture.Edit{fixture.Set("Node", "mgmt-cp-a", "docker:////other", "spec", "providerID")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectNodes, Object: "Node mgmt-cp-a", Message: "docker:////other",
				Waiting: true}},
		},
		"the node is not ready": {
			edits: []fixture.Edit{condition("Node", "mgmt-md-1-b", "Ready", "False", "no CNI")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectNodes, Object: "Node mgmt-md-1-b", Message: "no CNI",
				Waiting: true}},
		},
		"a Kustomization is suspended": {
			edits: []fixture.Edit{fixture.Set("Kustomization", "cluster", true, "spec", "suspend")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectKustomization, Object: "Kustomization flux-system/cluster",
				Message: "is suspended"}},
		},
		"a Kustomization is ready for an older spec": {
			edits: []fixture.Edit{fixture.Set("Kustomization", "cluster", int64(1), "status", "observedGeneration")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectKustomization, Object: "Kustomization flux-system/cluster",
				Message: "latest spec", Waiting: true}},
		},
		"only the condition of a Kustomization is old": {
			edits: []fixture.Edit{fixture.Set("Kustomization", "cluster", []any{map[string]any{
				"type": "Ready", "status": "True", "observedGeneration": int64(1),
			}}, "status", "conditions")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectKustomization, Object: "Kustomization flux-system/cluster",
				Message: "older version of the spec", Waiting: true}},
		},
		"a Kustomization that nobody asks for is not ready": {
			edits:  []fixture.Edit{condition("Kustomization", "capi", "Ready", "False", "no")},
			wanted: []client.ObjectKey{key("cluster")},
		},
		"a wanted Kustomization does not exist": {
			wanted: []client.ObjectKey{key("cluster"), key("capd")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectKustomization, Object: "Kustomization flux-system/capd",
				Message: "does not exist", Waiting: true}},
		},
		"there is no Kustomization at all": {
			edits: []fixture.Edit{fixture.Set("Kustomization", "cluster", "", "metadata", "name"),
				fixture.Set("Kustomization", "capi", "", "metadata", "name")},
			want: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectKustomization, Object: "Flux", Message: "no Kustomization yet",
				Waiting: true}},
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			objects := fixture.ManagementCluster()
			if row.empty {
				objects = nil
			}
			got, err := selfmanaged.Check(t.Context(), selfManagedClient(t, objects, row.edits...), scope, row.wanted)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(got, row.want, func(a, b selfmanaged.Unmet) bool {
				return a.Aspect == b.Aspect && a.Object == b.Object && a.Waiting == b.Waiting &&
					strings.Contains(a.Message, b.Message)
			})
			if !same {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
		})
	}
}

// A Machine that names no provider ID is not held against that of its Node.
func TestAMachineWithoutAProviderID(t *testing.T) {
	for name, edits := range map[string][]fixture.Edit{
		"both name it": nil, "the Machine does not": {fixture.Unset("Machine", "mgmt-cp-a", "spec", "providerID")},
	} {
		c := selfManagedClient(t, fixture.ManagementCluster(), edits...)
		got, err := selfmanaged.Check(t.Context(), c, scope, nil)
		if err != nil || len(got) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
