package rollout

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// owned is an object of Cluster API with a state, owned by another one.
func ownedObject(apiVersion, kind, name, ready, message, ownerKind, ownerName string) *unstructured.Unstructured {
	metadata := map[string]any{"name": name, "namespace": "management"}
	if ownerKind != "" {
		metadata["ownerReferences"] = []any{map[string]any{"kind": ownerKind, "name": ownerName}}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind,
		"metadata": metadata,
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready,
			"message": message}}}}}
}

func TestBlockedNamesTheDeepestCauseFirst(t *testing.T) {
	const infrastructure, core, controlPlane = "infrastructure.cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta2",
		"controlplane.cluster.x-k8s.io/v1beta2"
	c := ownedObject(core, "Cluster", "c", "False", "* InfrastructureReady: 0 of 8 completed", "", "")
	goal := Goal{What: "the management cluster", Ready: []Key{{"Cluster", "management", "c"}}}
	tests := map[string]struct {
		objects []*unstructured.Unstructured
		want    string
	}{
		"the infrastructure of the Cluster, before those that wait for it": {[]*unstructured.Unstructured{
			c, ownedObject(controlPlane, "KubeadmControlPlane", "a", "False", "waits", "Cluster", "c"),
			ownedObject(infrastructure, "AWSCluster", "z", "False", "no credentials", "Cluster", "c"),
		}, "AWSCluster/z KubeadmControlPlane/a Cluster/c"},
		"the infrastructure of a Machine": {[]*unstructured.Unstructured{
			c, ownedObject(controlPlane, "KubeadmControlPlane", "a", "False", "waits", "Cluster", "c"),
			ownedObject(infrastructure, "AWSCluster", "z", "True", "", "Cluster", "c"),
			ownedObject(core, "Machine", "m", "False", "waits", "KubeadmControlPlane", "a"),
			ownedObject(infrastructure, "AWSMachine", "m", "False", "no image", "Machine", "m"),
		}, "AWSMachine/m Machine/m KubeadmControlPlane/a Cluster/c"},
		"not what another Cluster owns": {[]*unstructured.Unstructured{
			c, ownedObject(infrastructure, "AWSCluster", "other", "False", "no credentials", "Cluster", "other"),
		}, "Cluster/c"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView("bootstrap", goal)
			for _, o := range tc.objects {
				v.take(kube.Change{Object: o})
			}
			var got []string
			for _, o := range v.blocked() {
				got = append(got, o.Kind+"/"+o.Name)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got  %v\nwant %s", got, tc.want)
			}
		})
	}
}
