package pivot

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// What a move does to each object, as in mover.go of clusterctl: it patches a mark and the finalizers at the source,
// and the managed fields on the target.
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
		found, err := v.missing(ctx, side.where, side.Side, side.verbs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.where, err)
		}
		refusals = append(refusals, found...)
	}
	return refusals, nil
}

func (v *view) missing(ctx context.Context, where Where, side clusters.Side, verbs []string) ([]*Refusal, error) {
	if all, err := capi.Allowed(ctx, side.Client, capi.Everything()); err != nil || all {
		return nil, err
	}
	kinds := v.samples()
	missing := make([][]string, len(kinds))
	err := inParallel(len(kinds), func(i int) error {
		for _, verb := range v.verbsFor(kinds[i], where, verbs) {
			allowed, err := capi.Allowed(ctx, side.Client, v.access(kinds[i], verb))
			if err != nil {
				return err
			}
			if !allowed {
				missing[i] = append(missing[i], verb)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	refusals, err := v.lackingNamespace(ctx, where, side)
	if err != nil {
		return nil, err
	}
	for i, o := range kinds {
		if len(missing[i]) == 0 {
			continue
		}
		v.denied[o.Key().GroupKind] = v.denied[o.Key().GroupKind] || where == AtTarget
		resource := v.resource(o)
		refusals = append(refusals, &Refusal{
			Rule: RulePermissions, Object: fmt.Sprintf("%s of the %s", resource, where),
			Reason: "the user of the kubeconfig may not " + strings.Join(missing[i], ", ") + " them",
			Remedy: "Use the kubeconfig of an administrator, or give its user these verbs on " + resource + ".",
		})
	}
	return refusals, nil
}

// lackingNamespace refuses a target without the namespace if the user may not create it, as a move does.
func (v *view) lackingNamespace(ctx context.Context, where Where, side clusters.Side) ([]*Refusal, error) {
	if where != AtTarget {
		return nil, nil
	}
	refusal := &Refusal{
		Rule: RulePermissions, Object: "namespace " + v.scope.Namespace + " of the " + string(where),
		Reason: "does not exist, and the user of the kubeconfig may not create it",
		Remedy: "Have an administrator create it: kubectl create namespace " + v.scope.Namespace,
	}
	switch exists, err := capi.NamespaceExists(ctx, side.Client, v.scope.Namespace); {
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

// verbsFor leaves out the verbs that a move does not use for objects that stay at the source.
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
