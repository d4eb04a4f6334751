package pivot

import (
	"context"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
)

func checkCluster(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(c capi.Cluster, reason string) {
		refusals = append(refusals, &Refusal{Rule: RuleCluster, Object: c.String(), Reason: reason})
	}
	found := false
	for _, c := range v.clusters {
		found = found || c.Name == v.scope.Cluster
		if c.Deleting {
			refuse(c, "is being deleted")
		}
		if !c.InfrastructureProvisioned {
			refuse(c, "its infrastructure is not provisioned yet")
		}
		if !c.ControlPlaneInitialized {
			refuse(c, "its control plane is not initialized yet")
		}
		if c.ClassNamespace != "" && c.ClassNamespace != c.Namespace {
			refuse(c, "uses a ClusterClass of namespace "+c.ClassNamespace+"; only a class in its own namespace can be moved with it")
		}
	}
	if !found {
		refusals = append(refusals, &Refusal{
			Rule: RuleCluster, Object: fmt.Sprintf("Cluster %s/%s", v.scope.Namespace, v.scope.Cluster),
			Reason: "does not exist at the source",
		})
	}
	return refusals, nil
}

func checkObjects(_ context.Context, v *view) ([]*Refusal, error) {
	if len(v.moves) == 0 {
		return []*Refusal{{Rule: RuleObjects, Reason: "0 objects would be moved"}}, nil
	}
	var refusals []*Refusal
	for _, o := range v.source.Stranded() {
		refusals = append(refusals, &Refusal{
			Rule: RuleObjects, Object: o.String(),
			Reason: "would be left behind, because an owner of it is not moved",
		})
	}
	for _, reference := range v.source.LeftBehind() {
		refusals = append(refusals, &Refusal{
			Rule: RuleObjects, Object: reference.To.String(),
			Reason: fmt.Sprintf("would be left behind, but %s needs it: nothing that is moved owns it, and it has no label %s",
				reference.From, clusterctlv1.ClusterctlMoveLabel),
		})
	}
	return refusals, nil
}

func checkProviders(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(name, format string, args ...any) {
		refusals = append(refusals, &Refusal{Rule: RuleProviders, Object: "provider " + name, Reason: fmt.Sprintf(format, args...)})
	}
	if len(v.sourceProviders) == 0 {
		refusals = append(refusals, &Refusal{Rule: RuleProviders, Reason: "the source runs no Cluster API provider"})
	}
	for _, p := range v.sourceProviders {
		if !p.Ready {
			refuse(p.Name, "not ready at the source: %s", p.Message)
		}
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
			refuse(p.Name, "not ready on the target: %s", t.Message)
		}
	}
	return refusals, nil
}

func checkPaused(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	for _, c := range v.clusters {
		if c.Paused {
			refusals = append(refusals, &Refusal{Rule: RulePaused, Object: c.String(), Reason: "is paused at the source"})
		}
	}
	for _, o := range v.moves {
		u, _ := v.source.Get(o)
		if _, paused := u.GetAnnotations()[clusterv1.PausedAnnotation]; paused && o.Kind != clusterv1.ClusterKind {
			refusals = append(refusals, &Refusal{
				Rule: RulePaused, Object: o.String(),
				Reason: "carries the annotation " + clusterv1.PausedAnnotation,
			})
		}
	}
	return refusals, nil
}

func checkMachines(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	refuse := func(m capi.Machine, reason string) {
		refusals = append(refusals, &Refusal{Rule: RuleMachines, Object: m.String(), Reason: reason})
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
			refusals = append(refusals, &Refusal{Rule: RuleTarget, Object: o.String(), Reason: "exists on the target already and would be overwritten"})
		}
	}
	return refusals, nil
}
