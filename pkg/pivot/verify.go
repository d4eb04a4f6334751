package pivot

import (
	"context"
	"errors"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// verify compares both sides after a move with the record from before it. Each object must be on the target unchanged,
// with owners that exist there. None may be left at the source, or be paused on the target. Objects that both sides
// keep may differ, and stay at the source. Other objects of the target are ignored: they may belong to tenants, and
// controllers may have created them. The error joins all findings.
//
// The target's controllers run again by then. Providers of the same versions reconciled the same objects at the source
// a moment ago, so they may still change little. Status, finalizers and the controllers' own annotations are not
// compared. Labels, annotations and owners may be added. The replicas of what others scale may change.
func verify(ctx context.Context, source, target clusters.Side, scope clusters.Scope, r *record.Record) error {
	there, err := capi.Discover(ctx, target.Client, scope.Namespace)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	here, err := capi.Discover(ctx, source.Client, scope.Namespace)
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	clusters, err := capi.Clusters(ctx, target.Client, scope.Namespace)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	planned := r.Objects()
	wrong := arrived(planned, there, clusters)
	wrong = append(wrong, changed(r, there)...)
	for _, o := range leftBehind(planned, here.All()) {
		wrong = append(wrong, fmt.Errorf("%s is still at the source", o))
	}
	return errors.Join(wrong...)
}

// arrived returns what is wrong with the target of a move on its own.
func arrived(planned []capi.Object, there *capi.Graph, clusters []capi.Cluster) []error {
	moved := among(there.Moves(), planned)
	var wrong []error
	for _, o := range missing(planned, moved) {
		wrong = append(wrong, fmt.Errorf("%s did not arrive on the target", o))
	}
	for _, o := range there.Dangling(moved) {
		wrong = append(wrong, fmt.Errorf("%s has an owner that does not exist on the target", o))
	}
	return append(wrong, stillPaused(there, moved, clusters)...)
}

// changed returns the parts of objects that did not arrive unchanged.
func changed(r *record.Record, there *capi.Graph) []error {
	byKey := map[capi.Key]capi.Object{}
	for _, o := range there.All() {
		byKey[o.Key()] = o
	}
	var wrong []error
	for _, want := range r.Entries {
		u, arrived := there.Get(byKey[want.Object().Key()])
		if !arrived {
			continue // already reported
		}
		for _, what := range want.Differences(r.Key, u, true) {
			wrong = append(wrong, errors.New(what))
		}
	}
	return wrong
}

// leftBehind returns the planned objects that the source still has, without those that both sides keep.
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

func stillPaused(graph *capi.Graph, moved []capi.Object, clusters []capi.Cluster) []error {
	var wrong []error
	planned := map[capi.Key]bool{}
	for _, o := range moved {
		planned[o.Key()] = true
	}
	for _, c := range clusters {
		if c.Paused && planned[c.Key()] {
			wrong = append(wrong, fmt.Errorf("%s is still paused on the target", c))
		}
	}
	for _, o := range moved {
		u, _ := graph.Get(o)
		if _, paused := u.GetAnnotations()[clusterv1.PausedAnnotation]; paused && o.Kind != clusterv1.ClusterKind {
			wrong = append(wrong, fmt.Errorf("%s is still paused on the target", o))
		}
	}
	return wrong
}
