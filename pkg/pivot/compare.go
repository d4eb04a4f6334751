package pivot

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// compare compares the target with recorded objects. It returns the differences without the objects' values, because
// these may be secret. An error means that the target could not be read. running reports whether the target's
// controllers may have changed the objects already.
func compare(ctx context.Context, target clusters.Side, d digester, saved []recorded, running bool) (wrong []string,
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
			wrong = append(wrong, want.differences(d, got, running)...)
		}
	}
	return wrong, nil
}

// differences returns the parts of an object that did not arrive unchanged.
func (r recorded) differences(d digester, got *unstructured.Unstructured, running bool) []string {
	if r.Shared { // both sides keep it, and a move never overwrites it
		return nil
	}
	var wrong []string
	for _, part := range r.missing(d.parts(got), running) {
		wrong = append(wrong, fmt.Sprintf("%s has another %s", r, part))
	}
	return wrong
}

// record returns the record of an object. If a move has begun to delete the object, its annotations are those of the
// move.
func (d digester) record(o capi.Object, u *unstructured.Unstructured) recorded {
	r := recorded{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(),
		Shared: o.Shared, Passing: ofOneMachine(u), parts: d.parts(u)}
	if clusters.BeingDeleted(u) {
		r.Annotations, r.Controllers = nil, nil
	}
	return r
}
