package restore

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// references creates what the objects refer to and the target lacks, while the Clusters are paused. It never overwrites
// an object. Only an API server that does not answer is an error. For an object that the server rejects it returns a
// warning, and a person has to create that object.
func (r *restoration) references(ctx context.Context) (created []capi.Object, warnings []string, err error) {
	for _, u := range r.in.Backup.Section(backup.References) {
		o := capi.ObjectOf(u)
		there := &unstructured.Unstructured{}
		there.SetGroupVersionKind(u.GroupVersionKind())
		err := r.in.Target.Client.Get(ctx, client.ObjectKeyFromObject(u), there)
		switch {
		case err == nil:
			if wrong := r.digest.Parts(u).WithoutOwners().Missing(r.digest.Parts(there), true); len(wrong) > 0 {
				warnings = append(warnings, fmt.Sprintf("%s, which the objects refer to, has another %s on the target "+
					"than in the backup, and is left as it is", o, strings.Join(wrong, ", ")))
			}
			continue
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		default:
			return created, warnings, fmt.Errorf("read %s on the target: %w", o, err)
		}
		made, err := r.fresh(ctx, u)
		if err == nil {
			err = r.in.Target.Client.Create(ctx, made)
		}
		switch {
		case err == nil:
			created = append(created, o)
		case kube.IsVerdict(err), meta.IsNoMatchError(err):
			warnings = append(warnings, fmt.Sprintf(
				"%s, which the objects refer to, could not be created on the target: %v", o, err))
		default:
			return created, warnings, fmt.Errorf("create %s on the target: %w", o, err)
		}
	}
	return created, warnings, nil
}

// fresh returns an object that can be created: without the fields that an API server set, and with those of its owners
// that the target has.
func (r *restoration) fresh(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	fresh := u.DeepCopy()
	for _, given := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "managedFields", "selfLink", "generateName"} {
		unstructured.RemoveNestedField(fresh.Object, "metadata", given)
	}
	unstructured.RemoveNestedField(fresh.Object, "status")
	var owners []metav1.OwnerReference
	for _, ref := range u.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		key := capi.Key{GroupKind: kind, NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(),
			Name: ref.Name}}
		there, err := capi.Find(ctx, r.in.Target.Client, []capi.Key{key})
		if err != nil {
			return nil, err
		}
		if owner, exists := there[key]; exists { // with a missing owner, the object would be deleted as garbage
			ref.UID = owner.UID
			owners = append(owners, ref)
		}
	}
	fresh.SetOwnerReferences(owners)
	return fresh, nil
}
