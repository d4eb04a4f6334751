package record

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Entry is what is recorded of an object that is to be moved.
type Entry struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Shared     bool   `json:"shared,omitempty"`  // both sides keep it
	Passing    bool   `json:"passing,omitempty"` // it may pass away: a rollout of Machines may delete it
	Parts
}

// Object returns what the entry is of.
func (r Entry) Object() capi.Object {
	return capi.Object{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Shared: r.Shared}
}

// String returns the object as "Kind namespace/name".
func (r Entry) String() string { return r.Object().String() }

// Compare compares the target with recorded objects. It returns the differences without the objects' values, because
// these may be secret. An error means that the target could not be read. running reports whether the target's
// controllers may have changed the objects already.
func Compare(ctx context.Context, target clusters.Side, d Digester, saved []Entry, running bool) (wrong []string,
	err error) {
	for _, want := range saved {
		got := &unstructured.Unstructured{}
		got.SetAPIVersion(want.APIVersion)
		got.SetKind(want.Kind)
		err := target.Client.Get(ctx, client.ObjectKey{Namespace: want.Namespace, Name: want.Name}, got)
		switch {
		case apierrors.IsNotFound(err):
			wrong = append(wrong, want.String()+" did not arrive on the target")
		case err != nil:
			return nil, fmt.Errorf("read %s on the target: %w", want, err)
		default:
			wrong = append(wrong, want.Differences(d, got, running)...)
		}
	}
	return wrong, nil
}

// Differences returns the parts of an object that did not arrive unchanged.
func (r Entry) Differences(d Digester, got *unstructured.Unstructured, running bool) []string {
	if r.Shared { // both sides keep it, and a move never overwrites it
		return nil
	}
	var wrong []string
	for _, part := range r.Missing(d.Parts(got), running) {
		wrong = append(wrong, fmt.Sprintf("%s has another %s", r, part))
	}
	return wrong
}

// Entry returns what is recorded of an object. If a move has begun to delete the object, its annotations are those of
// the move, and are left out.
func (d Digester) Entry(o capi.Object, u *unstructured.Unstructured) Entry {
	r := Entry{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(),
		Shared: o.Shared, Passing: replacedWithMachine(u), Parts: d.Parts(u)}
	if clusters.BeingDeleted(u) {
		r.Annotations, r.Controllers = nil, nil
	}
	return r
}

// replacedWithMachine reports whether a rollout of Machines may delete an object.
func replacedWithMachine(u *unstructured.Unstructured) bool {
	passing := []string{"Machine", "MachineSet", "KubeadmConfig", "RKE2Config"}
	return slices.Contains(passing, u.GetKind()) ||
		slices.ContainsFunc(u.GetOwnerReferences(),
			func(o metav1.OwnerReference) bool { return slices.Contains(passing, o.Kind) })
}
