package pivot

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

func checkCluster(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(c capi.Cluster, reason, remedy string) {
		refusals = append(refusals, &Refusal{Rule: RuleCluster, Object: c.String(), Reason: reason, Remedy: remedy})
	}
	found := false
	for _, c := range v.clusters {
		found = found || c.Name == v.scope.Cluster
		if c.Deleting {
			refuse(c, "is being deleted", "Wait until it is gone, or move what is left in another namespace.")
		}
		if !c.InfrastructureProvisioned {
			refuse(c, "its infrastructure is not provisioned yet", describe(v, c.Object))
		}
		if !c.ControlPlaneInitialized {
			refuse(c, "its control plane is not initialized yet", describe(v, c.Object))
		}
		if c.ClassNamespace != "" && c.ClassNamespace != c.Namespace {
			refuse(c, "uses a ClusterClass of namespace "+c.ClassNamespace+
				"; only a class in its own namespace can be moved with it",
				"Make a copy of the class and its templates in namespace "+c.Namespace+
					", and rebase the Cluster to it.")
		}
	}
	if !found {
		refusals = append(refusals, &Refusal{
			Rule: RuleCluster, Object: fmt.Sprintf("Cluster %s/%s", v.scope.Namespace, v.scope.Cluster),
			Reason: "does not exist at the source", Remedy: "Run cluster-init up, or look which Clusters there are: " +
				"kubectl" + option("--kubeconfig", v.sourceSide.Kubeconfig) + " get clusters -A",
		})
	}
	return refusals, nil
}

func checkObjects(_ context.Context, v *view) ([]*Refusal, error) {
	if len(v.moves) == 0 {
		return []*Refusal{{Rule: RuleObjects, Reason: "0 objects would be moved",
			Remedy: "See that the CRDs of Cluster API carry the label " + capi.MoveLabel + "."}}, nil
	}
	var refusals []*Refusal
	for _, stay := range v.stays {
		if stay.Rule != RuleObjects {
			continue
		}
		if len(stay.NeededBy) == 0 {
			refusals = append(refusals, &Refusal{Rule: RuleObjects, Object: stay.Object.String(),
				Reason: "would be left behind: " + stay.Reason, Remedy: stay.Remedy, Passes: stay.Passes})
		}
		for _, by := range stay.NeededBy {
			refusals = append(refusals, &Refusal{Rule: RuleObjects, Object: stay.Object.String(),
				Reason: fmt.Sprintf("would be left behind, but %s needs it: %s", by, stay.Reason), Remedy: stay.Remedy})
		}
	}
	return refusals, nil
}

func checkProviders(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(name, format string, args ...any) { refusals = append(refusals, provider(name, format, args...)) }
	if len(v.sourceProviders) == 0 {
		refusals = append(refusals, &Refusal{Rule: RuleProviders, Reason: "the source runs no Cluster API provider",
			Remedy: "See that the Deployments of the providers carry the label " + clusterv1.ProviderNameLabel + "."})
	}
	for _, p := range v.sourceProviders {
		i := slices.IndexFunc(v.targetProviders, func(t capi.Provider) bool { return t.Name == p.Name })
		if i < 0 {
			refuse(p.Name, "not installed on the target")
			continue
		}
		t := v.targetProviders[i]
		if t.Version != p.Version {
			refuse(p.Name, "version %s at the source, %s on the target", p.Version, t.Version)
		}
		if !t.Ready {
			refusals = append(refusals, unready(t, "on the target"))
		}
	}
	return append(refusals, recordedProviders(v)...), nil
}

// checkReady refuses while a provider at the source is not ready: it may be about to change its objects.
func checkReady(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	for _, p := range v.sourceProviders {
		if !p.Ready {
			refusals = append(refusals, unready(p, "at the source"))
		}
	}
	return refusals, nil
}

// unready is the refusal of a provider that may be restarting.
func unready(p capi.Provider, where string) *Refusal {
	r := provider(p.Name, "not ready %s: %s", where, p.Message)
	r.Passes = true
	return r
}

func provider(name, format string, args ...any) *Refusal {
	return &Refusal{Rule: RuleProviders, Object: "provider " + name, Reason: fmt.Sprintf(format, args...),
		Remedy: "Run the same version of it on both sides, and wait until it is ready there."}
}

// recordedProviders compares clusterctl's own records of both sides, as a move does and its dry run does not.
func recordedProviders(v *view) []*Refusal {
	var refusals []*Refusal
	for _, p := range v.sourceInventory {
		reason := "recorded by clusterctl at the source only"
		for _, t := range v.targetInventory {
			if reason == "" || !p.SameAs(t) { // one instance that is new enough is enough
				continue
			}
			atSource, err := version.ParseSemantic(p.Version)
			onTarget, targetErr := version.ParseSemantic(t.Version)
			switch {
			case err != nil || targetErr != nil:
				reason = fmt.Sprintf("recorded by clusterctl with version %q at the source and %q on the target, and "+
					"one of them is none", p.Version, t.Version)
			case onTarget.LessThan(atSource):
				reason = fmt.Sprintf("recorded by clusterctl with version %s at the source, %s on the target",
					p.Version, t.Version)
			default:
				reason = ""
			}
		}
		if reason != "" {
			refusals = append(refusals, &Refusal{Rule: RuleProviders, Object: "provider " + p.Name, Reason: reason,
				Remedy: "Install it on the target in the same way, or remove the record of a provider that is not " +
					"there: kubectl" + option("--kubeconfig", v.sourceSide.Kubeconfig) +
					" -n " + p.Namespace + " delete providers.clusterctl.cluster.x-k8s.io " + p.Name})
		}
	}
	return refusals
}

func checkPaused(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	for _, c := range v.clusters {
		if c.Paused {
			refusals = append(refusals, pausedAtSource(c.Object, v.sourceSide, v.targetSide, v.scope))
		}
	}
	for _, o := range v.moves {
		u, _ := v.source.Get(o)
		if _, paused := u.GetAnnotations()[clusterv1.PausedAnnotation]; paused && o.Kind != clusterv1.ClusterKind {
			refusals = append(refusals, &Refusal{
				Rule: RulePaused, Object: o.String(),
				Reason: "carries the annotation " + clusterv1.PausedAnnotation,
				Remedy: v.onObject("annotate", o) + " " + clusterv1.PausedAnnotation + "-",
			})
		}
	}
	return refusals, nil
}

func pausedAtSource(o capi.Object, source, target clusters.Side, scope clusters.Scope) *Refusal {
	return &Refusal{Rule: RulePaused, Object: o.String(), Reason: "is paused at the source",
		Remedy: Step{ActionResume, AtSource, []capi.Object{o}}.Command(source, target, scope)}
}

func checkMachines(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(m capi.Machine, reason string) {
		refusals = append(refusals, &Refusal{Rule: RuleMachines, Object: m.String(), Reason: reason,
			Remedy: describe(v, m.Object), Passes: true})
	}
	for _, m := range v.machines {
		switch {
		case m.Deleting:
			refuse(m, "is being deleted")
		case m.Node == "":
			refuse(m, "has no node yet")
		case !m.Ready.True():
			refuse(m, m.Ready.String())
		}
	}
	return refusals, nil
}

// checkTarget refuses what clusterctl would overwrite without asking.
func checkTarget(_ context.Context, v *view) ([]*Refusal, error) {
	planned := map[capi.Key]bool{}
	for _, o := range v.moves {
		planned[o.Key()] = !o.Shared
	}
	var refusals []*Refusal
	for _, o := range v.target.All() {
		if planned[o.Key()] {
			refusals = append(refusals, &Refusal{Rule: RuleTarget, Object: o.String(),
				Reason: "exists on the target already and would be overwritten",
				Remedy: "If nobody needs that one, delete it on the target: " + Kubectl(v.targetSide, v.scope) +
					" delete " + v.resource(o) + " " + o.Name})
		}
	}
	return refusals, nil
}
