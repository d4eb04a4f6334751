package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// appliedBy is the label with which kustomize-controller marks what it applies.
const appliedBy = "kustomize.toolkit.fluxcd.io/name"

// notActing are the findings of a controller that accepts no work, whatever the conditions say that it wrote last.
var notActing = []string{"workload-missing", "applied-object-missing", "workload-scaled-down", "workload-unavailable",
	"lease-not-renewed", "lease-held-by-dead-process", "webhook-silent", "conversion-webhook-silent",
	"definition-unreadable", "permission-missing"}

// checkControllers refuses a management cluster whose controllers would not make this cluster: Flux's, and those of its
// providers. A condition is only what a controller wrote last.
func (c Cluster) checkControllers(ctx context.Context) error {
	return c.judgeControllers(readiness.Observe(ctx, c.Management))
}

// judgeControllers returns an error for each Deployment that makes the cluster and does not act. Findings about
// anything else, such as the objects of other clusters, do not count.
func (c Cluster) judgeControllers(o readiness.Observation) error {
	for _, kind := range []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Kind: "Pod"},
		{Group: "coordination.k8s.io", Kind: "Lease"},
		{Group: kustomizev1.GroupVersion.Group, Kind: kustomizev1.KustomizationKind}} {
		if !slices.Contains(o.Kinds, kind) {
			return fault.Retryable(fmt.Errorf("see whether the controllers of the management cluster %s act: %s",
				c.Self, strings.Join(o.NotChecked, "; ")), fault.ClusterUnreachable, "Run the same command again.")
		}
	}
	blocking := readiness.Blocks(readiness.Judge(o))
	var problems []error
	for _, d := range c.controllers(o) {
		i := slices.IndexFunc(blocking, func(f readiness.Finding) bool {
			return slices.Contains(notActing, f.ID) && d.concerned(o, f)
		})
		if i >= 0 {
			problems = append(problems, fault.Retryable(fmt.Errorf("the controller %s of the management cluster %s "+
				"does not act: %s", d.Ref, c.Self, blocking[i].Cause), fault.ComponentStuck,
				strings.TrimSpace("Find the cause: cluster-init diagnose "+c.Argument)))
		}
	}
	return fault.Join(problems...)
}

// controller is a Deployment that a cluster needs. Its object is nil if it does not exist.
type controller struct {
	health.Ref
	object *unstructured.Unstructured
}

// controllers returns those of Flux and those that the components of the cluster's providers consist of.
func (c Cluster) controllers(o readiness.Observation) []controller {
	var found []controller
	add := func(r health.Ref, object *unstructured.Unstructured) {
		if !slices.ContainsFunc(found, func(d controller) bool { return d.Ref == r }) {
			found = append(found, controller{r, object})
		}
	}
	own, components := client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}, map[health.Ref]bool{}
	for _, u := range o.Objects {
		r := health.RefOf(u)
		if r.Kind == kustomizev1.KustomizationKind && r.Group == kustomizev1.GroupVersion.Group &&
			rollout.Made(own, u) && slices.Contains(c.Environment.Providers(), u.GetLabels()[owned.ComponentLabel]) {
			components[r] = true
		}
	}
	for _, u := range o.Objects {
		r := health.RefOf(u)
		isFlux := r.Namespace == flux.Namespace && slices.Contains(flux.Controllers(), r.Name)
		applied := components[health.Ref{Group: kustomizev1.GroupVersion.Group, Kind: kustomizev1.KustomizationKind,
			Namespace: flux.Namespace, Name: u.GetLabels()[appliedBy]}]
		if isDeployment(r) && (isFlux || applied) {
			add(r, u)
		}
	}
	for _, m := range o.Missing {
		if isDeployment(m.Object) && components[m.By] {
			add(m.Object, nil)
		}
	}
	for _, name := range flux.Controllers() {
		add(health.Ref{Group: "apps", Kind: "Deployment", Namespace: flux.Namespace, Name: name}, nil)
	}
	return found
}

func isDeployment(r health.Ref) bool { return r.Group == "apps" && r.Kind == "Deployment" }

// concerned reports whether a finding is about the controller: its Deployment, its account, or the webhooks and
// definitions that its provider installed.
func (d controller) concerned(o readiness.Observation, f readiness.Finding) bool {
	if f.Object == d.Ref || f.Workload() == d.Ref {
		return true
	}
	if d.object == nil || f.Workload() != (health.Ref{}) {
		return false
	}
	account, _, _ := unstructured.NestedString(d.object.Object, "spec", "template", "spec", "serviceAccountName")
	if f.Object == (health.Ref{Kind: "ServiceAccount", Namespace: d.Namespace, Name: account}) {
		return true
	}
	labels := d.object.GetLabels()
	return f.Object.Namespace == "" && slices.ContainsFunc(o.Objects, func(u *unstructured.Unstructured) bool {
		theirs := u.GetLabels()
		return health.RefOf(u) == f.Object && theirs[appliedBy] != "" && theirs[appliedBy] == labels[appliedBy] &&
			theirs[clusterv1.ProviderNameLabel] == labels[clusterv1.ProviderNameLabel]
	})
}
