package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// deleteLocal deletes one resource on this machine, unless ctx has ended.
func deleteLocal(ctx context.Context, engine Engine, item Item) Result {
	if ctx.Err() != nil {
		return Result{Item: item, Outcome: CouldNot, Why: "interrupted before"}
	}
	switch err := remove(ctx, engine, item); {
	case errors.Is(err, docker.ErrNotFound):
		return Result{Item: item, Outcome: AlreadyGone}
	case err != nil:
		return Result{Item: item, Outcome: CouldNot, Why: err.Error()}
	}
	return Result{Item: item, Outcome: Deleted}
}

func remove(ctx context.Context, engine Engine, item Item) error {
	switch item.Kind {
	case BootstrapNode, Machine, Registry:
		return engine.Remove(ctx, item.Name)
	case Volume:
		return engine.RemoveVolume(ctx, item.Name)
	case Image:
		err := engine.RemoveImage(ctx, item.Name)
		if err != nil && stillUsed(ctx, engine, item.Name) {
			return nil // the registry of another environment uses it; that cleanup deletes it
		}
		return err
	case Network:
		// The engine would remove a network whose containers are all stopped.
		others, err := othersIn(ctx, engine, docker.Network{ID: item.ID, Name: item.Name}, nil)
		if err == nil && len(others) > 0 {
			err = fmt.Errorf("containers are in it, running or not: %s", some(others))
		}
		if err != nil {
			return err
		}
		return engine.RemoveNetwork(ctx, item.ID) // another network may have its name
	case File:
		return os.RemoveAll(item.Name)
	}
	return fmt.Errorf("kind %q is not known", item.Kind)
}

func stillUsed(ctx context.Context, engine Engine, image string) bool {
	names, err := engine.Containers(ctx, docker.Filter{Labels: []string{owned.ClusterLabel}})
	if err != nil {
		return false
	}
	for _, name := range names {
		if c, err := engine.Inspect(ctx, name); err == nil && c.Image == image {
			return true
		}
	}
	return false
}
