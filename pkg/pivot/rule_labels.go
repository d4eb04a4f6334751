package pivot

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// checkLabels finds the CRDs whose objects clusterctl would leave behind (no label at the source), and those that
// the target lacks, does not label, or does not serve in the version that the objects are moved in.
func checkLabels(_ context.Context, v *view) ([]*Refusal, error) {
	refusals := unseen(v)
	for _, crd := range v.source.CRDs {
		if reason := v.missingOnTarget(crd); reason != "" {
			refusals = append(refusals, &Refusal{Rule: RuleLabels, Object: "CRD " + crd.Name, Reason: reason,
				Remedy: "Run the same release of its provider on both sides; a CRD that is there: " +
					v.labelCRD(v.targetSide, crd.Name)})
		}
	}
	return refusals, nil
}

// unseen returns refusals for the source's CRDs whose objects no move finds: they are unlabelled, or their stored
// version is not served.
func unseen(v *view) []*Refusal {
	var refusals []*Refusal
	for _, crd := range v.sourceUnlabelled {
		refusals = append(refusals, &Refusal{
			Rule: RuleLabels, Object: "CRD " + crd.Name, Remedy: v.labelCRD(v.sourceSide, crd.Name),
			Reason: "has no label " + capi.MoveLabel + " at the source: its objects would be left behind",
		})
	}
	for _, crd := range v.source.CRDs {
		if !slices.Contains(crd.Served, crd.GVK.Version) {
			refusals = append(refusals, &Refusal{
				Rule: RuleLabels, Object: "CRD " + crd.Name,
				Remedy: "Install the release of its provider that serves the version again.",
				Reason: "stores version " + crd.GVK.Version + " at the source and does not serve it: none of its " +
					"objects would be found",
			})
		}
	}
	return refusals
}

// labelCRD returns how a person labels a CRD. Providers that a component installs get their labels there.
func (v *view) labelCRD(side clusters.Side, name string) string {
	return "In the component that installs it, and here: kubectl" + option("--kubeconfig", side.Kubeconfig) +
		" label crd " + name + " " + capi.MoveLabel + "="
}

func (v *view) missingOnTarget(crd capi.CRD) string {
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
