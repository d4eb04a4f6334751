package drift

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// The field managers of Flux's controllers.
const (
	helmController      = "helm-controller"
	kustomizeController = "kustomize-controller"
)

// unmanaged lists the labels and annotations of objects that Flux does not change.
var unmanaged = jsondiff.ExclusionSelector{
	"kustomize.toolkit.fluxcd.io/reconcile": "disabled",
	"kustomize.toolkit.fluxcd.io/ssa":       "Ignore",
}

// filledIn returns the fields that the control plane fills in: the rules of a ClusterRole with an aggregation rule.
func filledIn(o *unstructured.Unstructured) jsondiff.IgnorePaths {
	if _, aggregates := o.Object["aggregationRule"]; aggregates && o.GetKind() == "ClusterRole" {
		return jsondiff.IgnorePaths{"/rules"}
	}
	return nil
}

// compareObjects compares objects with those in the cluster, as owner would apply them, and adds the result to part. It
// stops if the cluster does not answer, or if a wanted object is malformed.
func (c Comparison) compareObjects(ctx context.Context, cluster *kube.Cluster, owner string,
	want []*unstructured.Unstructured, part *Part) error {
	for _, wanted := range want {
		object, same, err := c.dryRun(ctx, cluster, owner, wanted.DeepCopy())
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

// dryRun compares one object with the one in the cluster. It reads the object first: a dry run fails if the object's
// namespace or definition does not exist yet.
func (c Comparison) dryRun(ctx context.Context, cluster *kube.Cluster, owner string,
	want *unstructured.Unstructured) (found Object, same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ssautil.RemoveCABundleFromCRD(want)
	if err := normalize.Unstructured(want); err != nil {
		return found, false, fmt.Errorf("read %s %s: %w", want.GetKind(), want.GetName(), err)
	}
	exists, err := cluster.Exists(ctx, want.DeepCopy())
	switch {
	case noAnswer(err):
		return found, false, err
	case err != nil:
		found = objectOf(Unknown, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case !exists:
		return objectOf(Create, want), false, nil
	}
	diff, err := jsondiff.Unstructured(ctx, cluster, want, jsondiff.FieldOwner(owner), jsondiff.MaskSecrets(true),
		unmanaged, filledIn(want))
	switch {
	case noAnswer(err):
		return found, false, err
	case apierrors.IsInvalid(err) && forced(want):
		found = objectOf(Update, want)
		found.Message = "Flux deletes and recreates it"
		return found, false, nil
	case refused(err):
		found = objectOf(Refused, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case err != nil:
		found = objectOf(Unknown, want)
		found.Message = c.Known.Text(err.Error())
		return found, false, nil
	case diff.Type == jsondiff.DiffTypeCreate: // deleted since the read above
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

// forced reports whether Flux recreates an object if a field cannot be changed.
func forced(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()["kustomize.toolkit.fluxcd.io/force"] == "enabled"
}

// refused reports whether the API server, a policy or a webhook refuses an object from any client. Missing permissions
// of this client have another error.
func refused(err error) bool {
	denied := apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "denied the request") ||
		strings.Contains(err.Error(), "denied request"))
	return denied || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// noAnswer reports whether an error means that the cluster did not answer.
func noAnswer(err error) bool {
	_, unreached := errors.AsType[*url.Error](err)
	return unreached || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
