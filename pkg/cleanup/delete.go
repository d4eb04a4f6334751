package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Delete deletes what the plan says, in its order, and tells about each item. What is gone already is no error; after
// an item that cannot be deleted it goes on with the others and returns all errors at the end.
func Delete(ctx context.Context, engine Engine, p Plan, told func(Item, error)) error {
	var errs []error
	for _, item := range p.Delete {
		if ctx.Err() != nil {
			return fault.Retryable(errors.Join(append(errs, ctx.Err())...), fault.Interrupted, "Run the same command again: it goes on from here.")
		}
		err := remove(ctx, engine, item)
		if errors.Is(err, docker.ErrNotFound) {
			err = nil
		}
		told(item, err)
		if err != nil {
			errs = append(errs, fmt.Errorf("deleting %s %s: %w", item.Kind, item.Name, err))
		}
	}
	return fault.Retryable(errors.Join(errs...), fault.CleanupFailed, "Run the same command again: it deletes what is left.")
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
			return nil // by the registry of another environment, whose cleanup takes it along
		}
		return err
	case Network:
		return engine.RemoveNetwork(ctx, item.Name)
	case File:
		return os.RemoveAll(item.Name)
	}
	return fmt.Errorf("kind %q is not known", item.Kind)
}

func stillUsed(ctx context.Context, engine Engine, image string) bool {
	names, err := engine.Containers(ctx, docker.Filter{Labels: []string{environmentLabel}})
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
