package rollout

import (
	"context"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// elsewhereBound is for one observation of another cluster. The view takes no event during it.
const elsewhereBound = 2 * time.Second

// lookElsewhere makes the view name first what fails in another cluster. If that cluster cannot be reached, only the
// log of details says so: the wait is about this cluster.
func (f Follower) lookElsewhere(ctx context.Context, v *view, report pipeline.Reporter) {
	if f.elsewhere == nil {
		return
	}
	look, cancel := context.WithTimeout(ctx, elsewhereBound)
	defer cancel()
	found, err := f.elsewhere(look)
	if ctx.Err() != nil {
		return // the wait is over, and its error names what was seen last
	}
	v.elsewhere = found // nothing after an error: what failed before may be healthy by now
	if err != nil {
		report.Log(err.Error())
	}
}

// failing returns the components of a cluster that report a failure, without those that only wait.
func failing(ctx context.Context, c *kube.Cluster) ([]event.Object, error) {
	list, err := flux.Kustomizations(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []event.Object
	for i := range list {
		if list[i].Labels[owned.ComponentLabel] == "" {
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&list[i])
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind))
		if state := health.Of(object); says(state) {
			found = append(found, event.Object{Cluster: c.Name, Kind: object.GetKind(),
				Namespace: object.GetNamespace(), Name: object.GetName(),
				State: state.Status, Reason: state.Reason, Message: state.Message})
		}
	}
	return found, nil
}

// says distinguishes a failure from a wait, by the reasons that Flux gives.
func says(state health.State) bool {
	switch state.Reason {
	case "BuildFailed", "ReconciliationFailed", "HealthCheckFailed", "ArtifactFailed", "PruneFailed":
		return state.Status != health.Ready
	}
	return state.Status == health.Failed
}

// unapplied reports whether an object is a Kustomization whose manifests Flux cannot build or apply. One whose health
// check fails is applied: what it waits for says more.
func unapplied(o event.Object) bool {
	return o.Kind == kustomizev1.KustomizationKind && o.Reason != "HealthCheckFailed" &&
		says(health.State{Status: o.State, Reason: o.Reason})
}
