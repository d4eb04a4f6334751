package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// checkControllers refuses a management cluster whose controllers do not act, although its conditions say that all is
// ready: a condition is what its controller wrote last.
func (c Cluster) checkControllers(ctx context.Context) error {
	return c.judgeControllers(readiness.Observe(ctx, c.Management))
}

// judgeControllers judges the controllers that would make the cluster. If it is not known what they do, that is a
// refusal too.
func (c Cluster) judgeControllers(o readiness.Observation) error {
	if !o.Complete() || !slices.Contains(o.Kinds, kustomizations()) {
		return fault.Retryable(fmt.Errorf("check the controllers of the management cluster %s: %s", c.Self,
			strings.Join(o.NotChecked, "; ")), fault.ClusterUnreachable,
			"Give your user the right to list all objects, or wait until the API server answers, and run the same "+
				"command again.")
	}
	var problems []error
	for _, f := range readiness.Idle(o, c.controllers(o)...) {
		problems = append(problems, fault.Retryable(fmt.Errorf("a controller of the management cluster %s does "+
			"not act: %s (%s)", c.Self, f.Cause, f.Object), fault.ComponentStuck,
			"Find the cause: cluster-init diagnose ENVIRONMENT. Run the same command again when the controller acts."))
	}
	return fault.Join(problems...)
}

// controllers returns the Deployments that make the cluster: those of Flux, and those that Flux has applied for the
// providers. What a component that is not ready has is not among them: checkProviders refuses it.
func (c Cluster) controllers(o readiness.Observation) []health.Ref {
	var found []health.Ref
	for _, name := range flux.Controllers() {
		found = append(found, health.Ref{Group: "apps", Kind: "Deployment", Namespace: flux.Namespace, Name: name})
	}
	own := client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}
	for _, u := range o.Objects {
		if u.GroupVersionKind().GroupKind() != kustomizations() || !rollout.Made(own, u) ||
			!slices.Contains(c.Environment.Providers(), u.GetLabels()[owned.ComponentLabel]) ||
			health.ConditionOf(u, "Ready").Status != "True" {
			continue
		}
		for _, applied := range health.Inventory(u) {
			if applied.Group == "apps" && applied.Kind == "Deployment" {
				found = append(found, applied)
			}
		}
	}
	return found
}

func kustomizations() schema.GroupKind {
	return schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}
}
