package capi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
)

// moveTimeout bounds a whole move or restore. clusterctl retries each write for up to three minutes, and waits up to
// seven for an object that requests it. A successful move takes seconds.
const moveTimeout = 15 * time.Minute

// MoveInput specifies a move. From and To are not changed.
type MoveInput struct {
	From, To  *rest.Config
	Namespace string
	// Mark is an annotation that Clusters and ClusterClasses have on either side while the move has them paused.
	Mark    Mark
	Log     func(string)  // clusterctl's progress, a line at a time; nil drops it
	Timeout time.Duration // of the whole move; 0 means 15 minutes
	// TakenOver is closed when another run takes over the move: two of them would undo each other's work. Nil means
	// that cannot happen.
	TakenOver <-chan struct{}
}

// Move runs clusterctl's move of all Cluster API objects in a namespace, including pausing the source and resuming the
// target. It reads no clusterctl configuration and fetches nothing.
//
// A move must not be interrupted, so cancelling ctx after the start only logs that the move is being finished: Move
// returns when clusterctl has returned, or has given up at the timeout, or when another run has taken over. An error
// may leave objects on both sides.
//
// clusterctl logs through one variable of its package, which Move sets and resets: run one Move at a time.
func Move(ctx context.Context, in MoveInput) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the move was not started: %w", err)
	}
	in.Log = oneAtATime(in.Log)
	if in.Timeout == 0 {
		in.Timeout = moveTimeout
	}
	mover, err := newMover(ctx, in)
	if err != nil {
		return err
	}
	defer logTo(in.Log)()

	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), in.Timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- move(detached, mover, in.Namespace) }()
	err = in.await(ctx, cancel, done)
	if err != nil && errors.Is(detached.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("gave up after %s: %w", in.Timeout, err)
	}
	if err != nil {
		return fmt.Errorf("move the Cluster API objects of namespace %s: %w", in.Namespace, err)
	}
	return nil
}

// await returns the error that is sent to done. It lets an interrupted move continue, and stops it when another run has
// taken over.
func (in MoveInput) await(ctx context.Context, stop context.CancelFunc, done <-chan error) error {
	interrupted, takenOver := ctx.Done(), in.TakenOver
	for {
		select {
		case err := <-done:
			return err
		case <-takenOver:
			takenOver, interrupted = nil, nil
			in.Log("another run has taken over: stopping")
			stop()
		case <-interrupted:
			interrupted = nil
			if isClosed(takenOver) { // that ended ctx too
				continue
			}
			in.Log("interrupted: finishing the move first, for half a move is worse than none")
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// The names of the two sides in clusterctl's options, in place of file names.
const (
	sourceSide = "source"
	targetSide = "target"
)

func move(ctx context.Context, mover clusterctl.Client, namespace string) error {
	return mover.Move(ctx, clusterctl.MoveOptions{
		FromKubeconfig: clusterctl.Kubeconfig{Path: sourceSide},
		ToKubeconfig:   clusterctl.Kubeconfig{Path: targetSide},
		Namespace:      namespace,
	})
}

// newMover returns a clusterctl for the clusters of in.
func newMover(ctx context.Context, in MoveInput) (clusterctl.Client, error) {
	source, err := newProxy(in.From)
	if err != nil {
		return nil, fmt.Errorf("connect to the source of the move: %w", err)
	}
	target, err := newProxy(in.To)
	if err != nil {
		return nil, fmt.Errorf("connect to the target of the move: %w", err)
	}
	for _, side := range []*proxy{source, target} {
		side.client = marking{side.client, in.Mark}
	}
	return newClusterctl(ctx, map[string]*proxy{sourceSide: source, targetSide: target})
}

// newClusterctl returns a clusterctl with an empty configuration in memory, which knows clusters by the names of
// proxies.
func newClusterctl(ctx context.Context, proxies map[string]*proxy) (clusterctl.Client, error) {
	settings, err := config.New(ctx, "", config.InjectReader(config.NewMemoryReader()))
	if err != nil {
		return nil, fmt.Errorf("set up clusterctl: %w", err)
	}
	mover, err := clusterctl.New(ctx, "", clusterctl.InjectConfig(settings), clusterctl.InjectClusterClientFactory(
		func(asked clusterctl.ClusterClientFactoryInput) (cluster.Client, error) {
			return cluster.New(cluster.Kubeconfig(asked.Kubeconfig), settings,
				cluster.InjectProxy(proxies[asked.Kubeconfig.Path])), nil
		}))
	if err != nil {
		return nil, fmt.Errorf("set up clusterctl: %w", err)
	}
	return mover, nil
}
