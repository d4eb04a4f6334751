package pivot

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// checkLabels finds the CRDs whose objects clusterctl would leave behind (no label at the source), and those that
// the target lacks, does not label, or does not serve in the version that the objects are moved in.
func checkLabels(ctx context.Context, v *view) ([]*Refusal, error) {
	refusals, err := unseen(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, crd := range v.source.CRDs {
		if reason := v.lackingOnTarget(crd); reason != "" {
			refusals = append(refusals, &Refusal{Rule: RuleLabels, Object: "CRD " + crd.Name, Reason: reason})
		}
	}
	return refusals, nil
}

// unseen names the unlabelled CRDs of the source that have objects to lose.
func unseen(ctx context.Context, v *view) ([]*Refusal, error) {
	unlabelled, err := capi.UnlabelledCRDs(ctx, v.sourceSide.Client)
	if err != nil {
		return nil, err
	}
	var refusals []*Refusal
	for _, crd := range unlabelled {
		if !crd.Namespaced {
			continue
		}
		used, err := capi.HasObjects(ctx, v.sourceSide.Client, crd, v.scope.Namespace)
		if err != nil {
			return nil, err
		}
		if used {
			refusals = append(refusals, &Refusal{
				Rule: RuleLabels, Object: "CRD " + crd.Name,
				Reason: "has no label " + capi.MoveLabel + " at the source: its objects would be left behind",
			})
		}
	}
	return refusals, nil
}

func (v *view) lackingOnTarget(crd capi.CRD) string {
	byName := func(other capi.CRD) bool { return other.Name == crd.Name }
	i := slices.IndexFunc(v.target.CRDs, byName)
	switch {
	case i >= 0 && !slices.Contains(v.target.CRDs[i].Served, crd.GVK.Version):
		return "the target does not serve version " + crd.GVK.Version
	case i >= 0:
		return ""
	case slices.ContainsFunc(v.targetUnlabelled, byName):
		return "has no label " + capi.MoveLabel + " on the target"
	}
	return "does not exist on the target, or has no label " + capi.MoveLabel + " there"
}
