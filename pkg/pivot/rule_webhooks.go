package pivot

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// checkWebhooks makes the target validate one object of each kind that moves, as a dry run: webhooks that do not answer
// interrupt a move. Other rules refuse a kind that the target lacks, or whose objects may not be created there. The dry
// run uses namespace default until the target has the real one.
func checkWebhooks(ctx context.Context, v *view) ([]*Refusal, error) {
	samples := v.samples()
	found := make([]*Refusal, len(samples))
	missing := map[string]bool{}
	for _, namespace := range append([]string{v.scope.Namespace}, v.further...) {
		exists, err := capi.NamespaceExists(ctx, v.targetSide.Client, namespace)
		if err != nil && !apierrors.IsForbidden(err) { // checkPermissions refuses a Forbidden error.
			return nil, fmt.Errorf("target: %w", err)
		}
		missing[namespace] = !exists
	}
	err := inParallel(len(samples), func(i int) error {
		o := samples[i]
		if v.denied[o.Key().GroupKind] || v.unknownToTarget(o) {
			return nil
		}
		u, _ := v.source.Get(o)
		namespace := o.Namespace
		if missing[namespace] {
			namespace = capi.AnyNamespace
		}
		err := capi.DryRunCreate(ctx, v.targetSide.Client, u, namespace)
		if err == nil {
			return nil
		}
		if !kube.IsVerdict(err) {
			return fmt.Errorf("target: dry-run the creation of %s: %w", o, err)
		}
		found[i] = &Refusal{Rule: RuleWebhooks, Object: o.String(), Reason: "the target would not accept it: " +
			err.Error(), Remedy: v.remedyOf(err)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var refusals []*Refusal
	for _, r := range found {
		if r != nil {
			refusals = append(refusals, r)
		}
	}
	return refusals, nil
}

// unknownToTarget reports whether the target does not serve the kind, or its CRD has no label. checkLabels refuses it.
func (v *view) unknownToTarget(o capi.Object) bool {
	for _, crd := range v.source.CRDs {
		if crd.GVK.GroupKind() == o.Key().GroupKind {
			return v.missingOnTarget(crd) != ""
		}
	}
	return false
}

func (v *view) remedyOf(err error) string {
	onTarget := "kubectl" + option("--kubeconfig", v.targetSide.Kubeconfig)
	switch {
	case apierrors.IsInternalError(err):
		return "See whether the provider that has the webhook runs, and whether the target's API server reaches it: " +
			onTarget + " get deployments,endpointslices -A"
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), `namespace "`+capi.AnyNamespace+`"`):
		return "The target has no namespace " + v.scope.Namespace + " yet, and another one may not be used to try: " +
			onTarget + " create namespace " + v.scope.Namespace
	}
	return "Change the object, or what refuses it on the target, until this is accepted: " + onTarget +
		" create --dry-run=server -f FILE"
}
