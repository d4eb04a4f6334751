//go:build integration

package install

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// providedObjects are what the component first of these tests provides to all of the cluster.
func providedObjects() []string {
	return []string{
		`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},
		"provisioner":"local.example.org/path"}`,
		`{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"csi.example.org"}}`,
		`{"apiVersion":"networking.k8s.io/v1","kind":"IngressClass","metadata":{"name":"edge"},
		"spec":{"controller":"example.org/edge"}}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"gadget-view"}}`,
	}
}

// refusesDependents makes objects of others that need what uninstall deletes, one after the other.
func refusesDependents(ctx context.Context, t *testing.T, plan func() (RemovalPlan, error)) {
	const volume = `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"data"},
		"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},`
	role := &unstructured.Unstructured{}
	role.SetAPIVersion("rbac.authorization.k8s.io/v1")
	role.SetKind("ClusterRole")
	role.SetName("gadget-view")
	if exists, err := shared.Client.Exists(ctx, role); err != nil || !exists {
		t.Fatalf("a ClusterRole of a component: %t, %v", exists, err)
	}
	for name, world := range map[string]struct{ object, refusal, remedy string }{
		"a part of an object whose kind stays": {`{"apiVersion":"example.org/v1","kind":"Gadget","metadata":
			{"namespace":"default","name":"piece","ownerReferences":[{"apiVersion":"kafka.example.com/v1",
			"kind":"Kafka","name":"theirs","uid":"7"}]}}`, "Gadget default/piece",
			"delete --namespace default gadgets.example.org/piece"},
		"a machine whose cluster is gone": {`{"apiVersion":"example.org/v1","kind":"Gadget","metadata":
			{"namespace":"default","name":"machine","ownerReferences":[{"apiVersion":"example.org/v1","kind":"Gadget",
			"name":"gone","uid":"8"}]}}`, "Gadget default/machine",
			"delete --namespace default gadgets.example.org/machine"},
		"a copy with the labels of a component": {`{"apiVersion":"example.org/v1","kind":"Gadget","metadata":
			{"namespace":"default","name":"copy","labels":{"kustomize.toolkit.fluxcd.io/name":"second",
			"kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}}`, "Gadget default/copy",
			"delete --namespace default gadgets.example.org/copy"},
		"a volume of a class that goes": {volume + `"storageClassName":"fast","hostPath":{"path":"/a"}}}`,
			"PersistentVolume data (StorageClass fast)", "delete persistentvolumes/data"},
		"a volume of a driver that goes": {volume + `"csi":{"driver":"csi.example.org","volumeHandle":"a"}}}`,
			"PersistentVolume data (CSIDriver csi.example.org)", "delete persistentvolumes/data"},
		"a volume of a provisioner that goes": {strings.Replace(volume, `"name":"data"`, `"name":"data","annotations":
			{"pv.kubernetes.io/provisioned-by":"local.example.org/path"}`, 1) + `"storageClassName":"theirs",
			"hostPath":{"path":"/a"}}}`, "PersistentVolume data (provisioner local.example.org/path)",
			"delete persistentvolumes/data"},
		"a claim that waits for its volume": {`{"apiVersion":"v1","kind":"PersistentVolumeClaim",
			"metadata":{"namespace":"default","name":"data"},"spec":{"storageClassName":"fast","accessModes":
			["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`,
			"PersistentVolumeClaim default/data (StorageClass fast)",
			"delete --namespace default persistentvolumeclaims/data"},
		"a class of a driver that goes": {`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":
			{"name":"theirs"},"provisioner":"csi.example.org"}`, "StorageClass theirs (CSIDriver csi.example.org)",
			"delete storageclasses.storage.k8s.io/theirs"},
		"an ingress of a class that goes": {`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":
			{"namespace":"default","name":"shop"},"spec":{"ingressClassName":"edge","defaultBackend":
			{"service":{"name":"shop","port":{"number":80}}}}}`, "Ingress default/shop (IngressClass edge)",
			"delete --namespace default ingresses.networking.k8s.io/shop"},
		"a grant of a role that goes": {`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":
			{"namespace":"default","name":"team"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
			"kind":"ClusterRole","name":"gadget-view"},"subjects":[{"kind":"User","name":"a",
			"apiGroup":"rbac.authorization.k8s.io"}]}`, "RoleBinding default/team (ClusterRole gadget-view)",
			"delete --namespace default rolebindings.rbac.authorization.k8s.io/team"},
		"what the garbage collector deletes": {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default",
			"name":"notes","ownerReferences":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
			"name":"gadget-view","uid":"` + string(role.GetUID()) + `"}]}}`,
			"ConfigMap default/notes (owner ClusterRole gadget-view)", "delete --namespace default configmaps/notes"},
	} {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON([]byte(world.object)); err != nil {
			t.Fatal(err)
		}
		shared.Create(ctx, t, o)
		_, err := plan()
		if fault.CodeOf(err) != fault.CleanupRefused || !strings.Contains(err.Error(), world.refusal) ||
			!strings.Contains(err.Error(), "nothing was deleted") ||
			!strings.Contains(fault.HintOf(err), world.remedy) {
			t.Errorf("%s: %v (%s), want %q (%s)", name, err, fault.HintOf(err), world.refusal, world.remedy)
		}
		// the server has no controllers that would remove finalizers
		shared.Patch(ctx, t, o, `{"metadata":{"finalizers":null}}`)
		shared.Remove(ctx, t, o)
	}
	ours := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "default", "name": "part"}}}
	ours.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(role, role.GroupVersionKind())})
	shared.Create(ctx, t, ours)
	defer shared.Remove(ctx, t, ours)
	if _, err := plan(); err != nil {
		t.Errorf("what a controller made for an object of a component: %v", err)
	}
}
