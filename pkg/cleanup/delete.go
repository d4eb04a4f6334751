package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// deleteLocal deletes one resource of a cluster on this machine, unless ctx has ended.
func deleteLocal(ctx context.Context, engine Engine, cluster string, item Item) Result {
	if ctx.Err() != nil {
		return Result{Item: item, Outcome: CouldNot, Reason: interruptedBefore}
	}
	err := remove(ctx, engine, item)
	switch {
	case err == nil:
		return Result{Item: item, Outcome: Deleted}
	case errors.Is(err, docker.ErrNotFound):
		return Result{Item: item, Outcome: AlreadyGone}
	}
	if item.Kind == Image { // environments share it: the last one to be cleaned up deletes it
		if registry := otherRegistryUsing(ctx, engine, cluster, item.Name); registry != "" {
			return Result{Item: item, Outcome: Kept, Reason: "registry " + registry + " uses it"}
		}
	}
	return Result{Item: item, Outcome: CouldNot, Reason: err.Error()}
}

const interruptedBefore = "the run was interrupted before this deletion"

func remove(ctx context.Context, engine Engine, item Item) error {
	switch item.Kind {
	case BootstrapNode, Machine, Registry:
		return engine.Remove(ctx, item.Name)
	case Volume:
		return engine.RemoveVolume(ctx, item.Name)
	case Image:
		return engine.RemoveImage(ctx, item.Name)
	case Network:
		// The engine would remove a network whose containers are all stopped.
		others, err := othersIn(ctx, engine, docker.Network{ID: item.ID, Name: item.Name}, nil)
		if err == nil && len(others) > 0 {
			err = fmt.Errorf("containers are in it, running or not: %s", abbreviated(others))
		}
		if err != nil {
			return err
		}
		return engine.RemoveNetwork(ctx, item.ID) // another network may have its name
	case File:
		if _, err := os.Lstat(item.Name); errors.Is(err, fs.ErrNotExist) {
			return docker.ErrNotFound
		}
		return os.RemoveAll(item.Name)
	}
	return fmt.Errorf("kind %q is not known", item.Kind)
}

// otherRegistryUsing returns the name of another cluster's registry that uses an image. Empty means that none is known.
func otherRegistryUsing(ctx context.Context, engine Engine, cluster, image string) string {
	names, err := engine.Containers(ctx, docker.Filter{Labels: []string{owned.ClusterLabel}})
	if err != nil {
		return ""
	}
	for _, name := range names {
		c, err := engine.Inspect(ctx, name)
		if err == nil && c.Image == image && c.Labels[owned.ClusterLabel] != cluster {
			return name
		}
	}
	return ""
}
