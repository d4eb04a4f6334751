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

// controllersRun says that the target's controllers may have changed the references already.
const controllersRun = true

// references creates what the objects refer to and the target lacks, while the Clusters are paused. Rejected creations
// become warnings. Every other API error ends the phase.
func (r *restoration) references(ctx context.Context) (created []capi.Object, warnings []string, err error) {
	for _, u := range r.input.Backup.Section(backup.References) {
		wasCreated, warning, err := r.createReference(ctx, u)
		if err != nil {
			return created, warnings, err
		}
		if wasCreated {
			created = append(created, capi.ObjectOf(u))
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return created, warnings, nil
}

// createReference creates an object that does not exist on the target. It never overwrites an object. The warning says
// what a person must compare or create.
func (r *restoration) createReference(ctx context.Context, u *unstructured.Unstructured) (wasCreated bool,
	warning string, err error) {
	o := capi.ObjectOf(u)
	existing := &unstructured.Unstructured{}
	existing.SetGroupVersionKind(u.GroupVersionKind())
	err = r.input.Target.Client.Get(ctx, client.ObjectKeyFromObject(u), existing)
	if err == nil {
		return false, r.compareReference(u, existing), nil
	}
	if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return false, "", fmt.Errorf("read %s on the target: %w", o, err)
	}
	prepared, err := r.creatable(ctx, u)
	if err == nil {
		err = r.input.Target.Client.Create(ctx, prepared)
	}
	switch {
	case err == nil:
		return true, "", nil
	case kube.IsVerdict(err), meta.IsNoMatchError(err):
		return false, fmt.Sprintf("%s, which the objects refer to, could not be created on the target: %v", o, err), nil
	}
	return false, "", fmt.Errorf("create %s on the target: %w", o, err)
}

// compareReference returns a warning if the target's object differs from the backup's; "" if it does not.
func (r *restoration) compareReference(saved, existing *unstructured.Unstructured) string {
	wrong := r.digest.Parts(saved).WithoutOwners().Missing(r.digest.Parts(existing), controllersRun)
	if len(wrong) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, which the objects refer to, has another %s on the target than in the backup, and is left "+
		"as it is", capi.ObjectOf(saved), strings.Join(wrong, ", "))
}

// creatable removes server-set fields and keeps only owner references that exist on the target.
func (r *restoration) creatable(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured,
	error) {
	prepared := u.DeepCopy()
	serverFields := []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "managedFields", "selfLink", "generateName"}
	for _, field := range serverFields {
		unstructured.RemoveNestedField(prepared.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(prepared.Object, "status")
	var owners []metav1.OwnerReference
	for _, ref := range u.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		key := capi.Key{GroupKind: kind, NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(),
			Name: ref.Name}}
		existing, err := capi.Find(ctx, r.input.Target.Client, []capi.Key{key})
		if err != nil {
			return nil, err
		}
		if owner, exists := existing[key]; exists { // with a missing owner, the object would be deleted as garbage
			ref.UID = owner.UID
			owners = append(owners, ref)
		}
	}
	prepared.SetOwnerReferences(owners)
	return prepared, nil
}
