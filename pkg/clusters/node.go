package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// NodeState is the state of the kind cluster's container. It says nothing about what the cluster holds.
type NodeState string

// The states of the container. The empty state means that the state is not known.
const (
	NodeAbsent   NodeState = "absent"
	NodeStopped  NodeState = "stopped"
	NodePaused   NodeState = "paused"
	NodeRemoving NodeState = "removing"
	// another run may be creating the cluster
	NodeBusy NodeState = "busy"
	// kind was interrupted while it created the cluster, so it never held anything
	NodeUnfinished NodeState = "unfinished"
	NodeRunning    NodeState = "running" // it runs, and kind finished it
)

// nodeState returns the state of a managed node. The error is why the state is not known, or of NodeBusy. clock returns
// the engine's time, and is called only for a node that kind did not finish.
func nodeState(ctx context.Context, e Engine, node docker.Container, stateFolder string,
	clock func(context.Context) (time.Time, error)) (NodeState, error) {
	switch {
	case node.Status == "paused":
		return NodePaused, nil
	case node.Status == "removing":
		return NodeRemoving, nil
	case node.Status == "created": // it never ran: kind was interrupted at its start, or is about to start it
		return unfinishedNode(ctx, node, stateFolder, clock)
	case !node.Running:
		return NodeStopped, nil
	}
	finished, err := e.HasFile(ctx, node.Name, owned.FinishedMarker)
	switch {
	case err != nil:
		return "", err
	case !finished:
		return unfinishedNode(ctx, node, stateFolder, clock)
	}
	return NodeRunning, nil
}

// unfinishedNode returns the state of a node that kind did not finish. The lock of the state folder proves that no
// other run with this folder creates it. A run with another folder may, until kind.CreationBound has passed. The
// engine's time counts, because the engine dates its containers.
func unfinishedNode(ctx context.Context, node docker.Container, stateFolder string,
	clock func(context.Context) (time.Time, error)) (NodeState, error) {
	now, err := clock(ctx)
	if err != nil {
		return "", fmt.Errorf("read the clock of the Docker engine: %w", err)
	}
	id, err := lease.ID(stateFolder)
	if err != nil {
		return "", err
	}
	ours := id != "" && node.HasMount(owned.MakerMarker(id))
	if ours || now.Sub(node.Created) >= kind.CreationBound {
		return NodeUnfinished, nil
	}
	return NodeBusy, fault.Retryable(fmt.Errorf("kind has not finished the bootstrap cluster, and another run, of "+
		"another user or machine, may be making it since %s", node.Created.Local().Format("15:04:05")), fault.Busy, "")
}
