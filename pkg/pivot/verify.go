package pivot

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/capi"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Verify holds what both sides have after a move against the plan: each planned object is on the target with owners
// that exist there, none is left at the source, nothing on the target is paused. It returns the objects of the
// target that were not planned, and an error that joins everything found wrong.
func Verify(ctx context.Context, source, target Side, plan Plan) (extra []capi.Object, err error) {
	there, err := capi.Discover(ctx, target.Client, plan.Scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	here, err := capi.Discover(ctx, source.Client, plan.Scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	}
	clusters, err := capi.Clusters(ctx, target.Client, plan.Scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	wrong := arrived(plan.Objects, there, clusters)
	for _, o := range leftBehind(plan.Objects, here.All()) {
		wrong = append(wrong, fmt.Errorf("%s is still at the source", o))
	}
	return missing(there.Moves(), plan.Objects), errors.Join(wrong...)
}

// arrived returns what is wrong with the target of a move, by itself.
func arrived(planned []capi.Object, there *capi.Graph, clusters []capi.Cluster) []error {
	moved := there.Moves()
	var wrong []error
	for _, o := range missing(planned, moved) {
		wrong = append(wrong, fmt.Errorf("%s did not arrive on the target", o))
	}
	for _, o := range there.Dangling(moved) {
		wrong = append(wrong, fmt.Errorf("%s has an owner that does not exist on the target", o))
	}
	return append(wrong, stillPaused(there, moved, clusters)...)
}

// leftBehind returns the planned objects that the source still has, but for those that both sides keep.
func leftBehind(planned, left []capi.Object) []capi.Object {
	atSource := map[capi.Key]bool{}
	for _, o := range left {
		atSource[o.Key()] = true
	}
	var behind []capi.Object
	for _, o := range planned {
		if !o.Shared && atSource[o.Key()] {
			behind = append(behind, o)
		}
	}
	return behind
}

func stillPaused(graph *capi.Graph, objects []capi.Object, clusters []capi.Cluster) []error {
	var wrong []error
	for _, c := range clusters {
		if c.Paused {
			wrong = append(wrong, fmt.Errorf("%s is still paused on the target", c))
		}
	}
	for _, o := range objects {
		u, _ := graph.Get(o)
		if _, paused := u.GetAnnotations()[clusterv1.PausedAnnotation]; paused && o.Kind != clusterv1.ClusterKind {
			wrong = append(wrong, fmt.Errorf("%s is still paused on the target", o))
		}
	}
	return wrong
}
