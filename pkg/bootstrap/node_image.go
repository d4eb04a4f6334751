package bootstrap

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// pullNodeImage makes the engine pull the node image unless it has it, because kind would pull it without progress. If
// the pull fails, kind retries it and reports the error.
func (c Cluster) pullNodeImage(ctx context.Context, report pipeline.Reporter) error {
	image := c.BootstrapImage()
	switch there, err := c.Engine.ImageExists(ctx, image); {
	case err != nil: // kind checks again
		return ctx.Err()
	case there:
		return nil
	}
	report.Progress("pulling %s", image)
	began := time.Now()
	err := c.Engine.Pull(ctx, image, func(arrived, layers int) {
		report.Progress("pulling %s, %d of %d layers", image, arrived, layers)
	})
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		report.Progress("leaving the pull to kind: %v", err)
		return nil
	}
	// without an answer, kind finds out why there is no image
	if there, _ := c.Engine.ImageExists(ctx, image); there {
		report.Progress("pulled %s in %s", image, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}
