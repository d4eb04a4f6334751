package capi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/client"
)

// RestoreInput specifies a restore. To and Objects are not changed.
type RestoreInput struct {
	To *rest.Config
	// Objects are as they were read from a cluster, with their UIDs: these restore owner references.
	Objects []*unstructured.Unstructured
	Log     func(string)  // clusterctl's progress, a line at a time; nil drops it
	Timeout time.Duration // of the whole; 0 means 15 minutes
}

// Restore creates objects with clusterctl's move from a directory, owners first. It neither compares nor changes what
// exists already, and new objects get it as their owner. Once all exist, clusterctl removes spec.paused from Clusters
// and the paused annotation from ClusterClasses: the annotation of a Cluster stays. The objects are passed in memory
// and are never on a disk.
//
// Unlike a move it may be interrupted: run it again. An error may leave some of the objects there.
//
// clusterctl logs through one variable of its package, which Restore sets and resets: run one Move or Restore at a
// time.
func Restore(ctx context.Context, in RestoreInput) (err error) {
	if in.Timeout == 0 {
		in.Timeout = moveTimeout
	}
	target, err := newProxy(in.To)
	if err != nil {
		return fmt.Errorf("connect to the target of the restore: %w", err)
	}
	target.client = certain{target.client}
	mover, err := newClusterctl(ctx, map[string]*proxy{targetSide: target})
	if err != nil {
		return err
	}
	handed, err := handOver(in.Objects)
	if err != nil {
		return fmt.Errorf("pass the objects to clusterctl: %w", err)
	}
	defer func() { err = errors.Join(err, handed.end()) }()
	defer logTo(oneAtATime(in.Log))()

	bounded, cancel := context.WithTimeout(ctx, in.Timeout)
	defer cancel()
	err = mover.Move(bounded, clusterctl.MoveOptions{FromDirectory: handed.folder,
		ToKubeconfig: clusterctl.Kubeconfig{Path: targetSide}})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && bounded.Err() != nil:
		err = fmt.Errorf("gave up after %s: %w", in.Timeout, err)
	}
	return fmt.Errorf("restore the Cluster API objects: %w", err)
}
