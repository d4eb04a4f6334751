package drift

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Who applies what, as API servers know them.
const (
	helmController      = "helm-controller"
	kustomizeController = "kustomize-controller"
)

// unmanaged are objects that Flux leaves as they are, by a label or an annotation.
var unmanaged = jsondiff.ExclusionSelector{
	"kustomize.toolkit.fluxcd.io/reconcile": "disabled",
	"kustomize.toolkit.fluxcd.io/ssa":       "Ignore",
}

// filledIn are the fields of an object that the control plane fills in, whatever is applied: the rules of a ClusterRole
// that gathers those of others.
func filledIn(o *unstructured.Unstructured) jsondiff.IgnorePaths {
	if _, gathers := o.Object["aggregationRule"]; gathers && o.GetKind() == "ClusterRole" {
		return jsondiff.IgnorePaths{"/rules"}
	}
	return nil
}

// applied compares objects with what is there, as owner would apply them. The error is that of a cluster which gives no
// answer.
func (c Comparison) applied(ctx context.Context, in *kube.Cluster, owner string, want []*unstructured.Unstructured,
	part *Part) error {
	for _, each := range want {
		object, same, err := c.dryRun(ctx, in, owner, each.DeepCopy())
		switch {
		case err != nil:
			return err
		case same:
			part.Same++
		default:
			part.Objects = append(part.Objects, object)
		}
	}
	return nil
}

// dryRun compares one object with what is there. Whether it is there is asked first: a dry run fails where its
// namespace or its definition is still to be made.
func (c Comparison) dryRun(ctx context.Context, in *kube.Cluster, owner string, want *unstructured.Unstructured) (
	found Object, same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	ssautil.RemoveCABundleFromCRD(want)
	if err := normalize.Unstructured(want); err != nil {
		return found, false, fmt.Errorf("read %s %s: %w", want.GetKind(), want.GetName(), err)
	}
	there, err := in.Exists(ctx, want.DeepCopy())
	switch {
	case silent(err):
		return found, false, err
	case err != nil:
		found = objectOf(Unknown, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case !there:
		return objectOf(Create, want), false, nil
	}
	diff, err := jsondiff.Unstructured(ctx, in, want, jsondiff.FieldOwner(owner), jsondiff.MaskSecrets(true), unmanaged,
		filledIn(want))
	switch {
	case silent(err):
		return found, false, err
	case apierrors.IsInvalid(err) && forced(want):
		found = objectOf(Update, want)
		found.Message = "Flux deletes it and makes it anew"
		return found, false, nil
	case refused(err):
		found = objectOf(Refused, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case err != nil:
		found = objectOf(Unknown, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case diff.Type == jsondiff.DiffTypeCreate: // it went meanwhile
		return objectOf(Create, want), false, nil
	case diff.Type != jsondiff.DiffTypeUpdate:
		return found, true, nil
	}
	found = objectOf(Update, want)
	for _, op := range diff.Patch {
		found.Fields = append(found.Fields, Field{Path: c.Known.Text(op.Path), From: c.Known.Value(op.OldValue),
			To: c.Known.Value(op.Value)})
	}
	return found, false, nil
}

// forced says whether Flux makes an object anew where a field cannot be changed.
func forced(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()["kustomize.toolkit.fluxcd.io/force"] == "enabled"
}

// refused says whether the API server, or a policy or webhook that it asks, does not take an object, whoever applies
// it. Who may not ask is told so in other words.
func refused(err error) bool {
	denied := apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "denied the request") ||
		strings.Contains(err.Error(), "denied request"))
	return denied || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
