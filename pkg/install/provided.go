package install

import (
	"context"
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// provided holds the names of what components provide to the whole cluster, by kind.
type provided map[string]map[string]bool

func (p provided) add(kind, name string) {
	if p[kind] == nil {
		p[kind] = map[string]bool{}
	}
	p[kind][name] = true
}

// first returns the first of some references to something that is provided; empty if there is none.
func (p provided) first(references ...[2]string) string {
	for _, r := range references {
		if p[r[0]][r[1]] {
			return r[0] + " " + r[1]
		}
	}
	return ""
}

// provisionerKind is how a StorageClass and a volume name what makes volumes. No object has this kind.
const provisionerKind = "provisioner"

// user is a kind whose objects need something that a component provides.
type user struct {
	kind schema.GroupVersionKind
	of   []string // the kinds that it may need
	// needs returns what an object needs, as kind and name
	needs func(*unstructured.Unstructured) [][2]string
}

func users() []user {
	text := func(o *unstructured.Unstructured, path ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, path...)
		return value
	}
	volumes := []string{"StorageClass", "CSIDriver", provisionerKind}
	grants := func(o *unstructured.Unstructured) [][2]string {
		return [][2]string{{text(o, "roleRef", "kind"), text(o, "roleRef", "name")}}
	}
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	return []user{
		{schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}, volumes,
			func(o *unstructured.Unstructured) [][2]string {
				return [][2]string{{"StorageClass", text(o, "spec", "storageClassName")},
					{"CSIDriver", text(o, "spec", "csi", "driver")},
					{provisionerKind, o.GetAnnotations()["pv.kubernetes.io/provisioned-by"]}}
			}},
		{schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, volumes[:1],
			func(o *unstructured.Unstructured) [][2]string {
				return [][2]string{{"StorageClass", text(o, "spec", "storageClassName")}}
			}},
		{schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}, volumes,
			func(o *unstructured.Unstructured) [][2]string {
				return [][2]string{{"CSIDriver", text(o, "provisioner")}, {provisionerKind, text(o, "provisioner")}}
			}},
		{schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
			[]string{"IngressClass"}, func(o *unstructured.Unstructured) [][2]string {
				return [][2]string{{"IngressClass", text(o, "spec", "ingressClassName")}}
			}},
		{rbac.WithKind("RoleBinding"), []string{"ClusterRole"}, grants},
		{rbac.WithKind("ClusterRoleBinding"), []string{"ClusterRole"}, grants},
	}
}

// usingDependents returns the objects of others that need what lost objects provide: volumes without their driver
// cannot be detached or deleted, and a grant of a role that is gone grants nothing.
func (r *Removal) usingDependents(ctx context.Context, found inventory, lost []object) ([]dependent, error) {
	goes := provided{}
	for _, o := range lost {
		if !found.keeps(o) && !isCustom(o) {
			goes.add(o.Kind, o.Name)
		}
	}
	if err := r.addProvisioners(ctx, goes); err != nil {
		return nil, err
	}
	var all []dependent
	for _, u := range users() {
		needed := false
		for _, kind := range u.of {
			needed = needed || len(goes[kind]) > 0
		}
		if !needed {
			continue
		}
		list, err := listIn(ctx, r.cluster, u.kind)
		if err != nil {
			return nil, err
		}
		for i := range list {
			o := metadataFrom(&list[i])
			if needs := goes.first(u.needs(&list[i])...); needs != "" && !found.isOurs(o) {
				all = append(all, found.dependent(o, needs))
				all = append(all, claimOf(found, &list[i])...)
			}
		}
	}
	return all, nil
}

// addProvisioners adds the provisioners of the StorageClasses that go, except those of Kubernetes itself.
func (r *Removal) addProvisioners(ctx context.Context, goes provided) error {
	if len(goes["StorageClass"]) == 0 {
		return nil
	}
	classes, err := listIn(ctx, r.cluster, schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1",
		Kind: "StorageClass"})
	for _, class := range classes {
		name, _, _ := unstructured.NestedString(class.Object, "provisioner")
		if goes["StorageClass"][class.GetName()] && !strings.HasPrefix(name, "kubernetes.io/") {
			goes.add(provisionerKind, name)
		}
	}
	return err
}

// claimOf returns the claim that a volume is bound to: the volume cannot be deleted before it.
func claimOf(found inventory, volume *unstructured.Unstructured) []dependent {
	name, _, _ := unstructured.NestedString(volume.Object, "spec", "claimRef", "name")
	phase, _, _ := unstructured.NestedString(volume.Object, "status", "phase")
	if name == "" || phase != "Bound" {
		return nil
	}
	claim := metadataOf(schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"})
	claim.Name = name
	claim.Namespace, _, _ = unstructured.NestedString(volume.Object, "spec", "claimRef", "namespace")
	return []dependent{found.dependent(claim, "PersistentVolume "+volume.GetName())}
}

// listIn returns all objects of a kind, with their content. A kind that is not served has none.
func listIn(ctx context.Context, c *kube.Cluster, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := c.List(ctx, list)
	if kube.NotServed(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the objects of kind %s: %w", kind.Kind, err)
	}
	return list.Items, nil
}

func metadataFrom(o *unstructured.Unstructured) object {
	found := apimeta.AsPartialObjectMetadata(o)
	found.TypeMeta = metav1.TypeMeta{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()}
	return found
}
