package pivot

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// The verbs that a move uses, as in mover.go of clusterctl. clusterctl patches an annotation and the finalizers at the
// source, and managedFields on the target.
var (
	sourceVerbs = []string{"get", "list", "patch", "delete"}
	targetVerbs = []string{"get", "list", "create", "update", "patch"}
)

// checkPermissions checks on both sides whether the kubeconfig's user may do what a move does. An administrator costs
// one request, any other user one for each verb and kind.
func checkPermissions(ctx context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	for _, side := range []struct {
		where Where
		clusters.Side
		verbs []string
	}{{AtSource, v.sourceSide, sourceVerbs}, {AtTarget, v.targetSide, targetVerbs}} {
		found, err := v.checkSide(ctx, side.where, side.Side, side.verbs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.where, err)
		}
		refusals = append(refusals, found...)
	}
	return refusals, nil
}

// checkSide refuses each kind for which the user lacks a verb, and a namespace that the user may not create. It adds
// the refused kinds of the target to v.denied: checkWebhooks skips these kinds.
func (v *view) checkSide(ctx context.Context, where Where, side clusters.Side, verbs []string) ([]*Refusal, error) {
	if all, err := capi.Allowed(ctx, side.Client, capi.Everything()); err != nil || all {
		return nil, err
	}
	samples := v.samples()
	missing, err := v.missingVerbs(ctx, where, side, samples, verbs)
	if err != nil {
		return nil, err
	}
	var refusals []*Refusal
	if where == AtTarget {
		for _, namespace := range append([]string{v.scope.Namespace}, v.further...) {
			refusal, err := v.checkNamespace(ctx, side, namespace)
			if err != nil {
				return nil, err
			}
			refusals = append(refusals, refusal...)
		}
	}
	for i, o := range samples {
		if len(missing[i]) == 0 {
			continue
		}
		if where == AtTarget {
			v.denied[o.Key().GroupKind] = true
		}
		resource := v.resource(o)
		refusals = append(refusals, &Refusal{
			Rule: RulePermissions, Object: fmt.Sprintf("%s of the %s", resource, where),
			Reason: "the user of the kubeconfig may not " + strings.Join(missing[i], ", ") + " them",
			Remedy: "Use the kubeconfig of an administrator, or give its user these verbs on " + resource + ".",
		})
	}
	return refusals, nil
}

// missingVerbs returns the verbs that the user of the kubeconfig lacks, for each sample.
func (v *view) missingVerbs(ctx context.Context, where Where, side clusters.Side, samples []capi.Object,
	verbs []string) ([][]string, error) {
	missing := make([][]string, len(samples))
	err := inParallel(len(samples), func(i int) error {
		for _, verb := range v.verbsFor(samples[i], where, verbs) {
			allowed, err := capi.Allowed(ctx, side.Client, v.access(samples[i], verb))
			if err != nil {
				return err
			}
			if !allowed {
				missing[i] = append(missing[i], verb)
			}
		}
		return nil
	})
	return missing, err
}

// checkNamespace refuses a target without the namespace if the user may not create it, as a move does. It also refuses
// a user who may not read the namespace.
func (v *view) checkNamespace(ctx context.Context, side clusters.Side, namespace string) ([]*Refusal, error) {
	refusal := &Refusal{
		Rule: RulePermissions, Object: "namespace " + namespace + " of the " + string(AtTarget),
		Reason: "does not exist, and the user of the kubeconfig may not create it",
		Remedy: "Have an administrator create it: kubectl" + option("--kubeconfig", side.Kubeconfig) +
			" create namespace " + namespace,
	}
	switch exists, err := capi.NamespaceExists(ctx, side.Client, namespace); {
	case apierrors.IsForbidden(err): // clusterctl must read it, too
		refusal.Reason, refusal.Remedy = "it is not known whether it exists: "+err.Error(),
			"Give the user of the kubeconfig the permission to get it."
		return []*Refusal{refusal}, nil
	case err != nil || exists:
		return nil, err
	}
	if allowed, err := capi.Allowed(ctx, side.Client,
		capi.Access{Verb: "create", Resource: "namespaces"}); err != nil || allowed {
		return nil, err
	}
	return []*Refusal{refusal}, nil
}

// verbsFor leaves out the verbs that a move does not use for shared objects: they stay at the source.
func (v *view) verbsFor(o capi.Object, where Where, verbs []string) []string {
	if o.Shared && where == AtSource {
		return []string{"get", "list"}
	}
	return verbs
}

func (v *view) access(o capi.Object, verb string) capi.Access {
	resource := v.resource(o)
	name, group, _ := strings.Cut(resource, ".")
	return capi.Access{Verb: verb, Group: group, Resource: name, Namespace: o.Namespace}
}

// samples returns the first object of each kind that moves.
func (v *view) samples() []capi.Object {
	seen := map[string]bool{}
	var all []capi.Object
	for _, o := range v.moves {
		if kind := o.Key().GroupKind.String(); !seen[kind] {
			seen[kind] = true
			all = append(all, o)
		}
	}
	return all
}
