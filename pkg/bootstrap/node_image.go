package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// tellEvery is the interval at which a pull reports its progress.
const tellEvery = 5 * time.Second

// pullNodeImage makes the engine pull the node image, unless it has it. kind would pull it too, but without progress.
// If the pull fails, kind retries it and reports the error.
func (c Cluster) pullNodeImage(ctx context.Context, report pipeline.Reporter) error {
	image := c.BootstrapImage()
	switch there, err := c.Engine.ImageExists(ctx, image); {
	case err != nil: // kind checks again
		return ctx.Err()
	case there:
		return nil
	}
	report.Progress("pulling %s", image)
	p := pull{image: image, report: report, now: time.Now, began: time.Now()}
	err := c.Engine.Pull(ctx, image, p.heard)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		report.Progress("leaving the pull to kind: %v", err)
		return nil
	}
	// without an answer, kind finds out why there is no image
	if there, _ := c.Engine.ImageExists(ctx, image); there {
		p.end()
	}
	return nil
}

// pull reports the progress of an image pull.
type pull struct {
	image     string
	report    pipeline.Reporter
	now       func() time.Time
	began, at time.Time // at: time of the last report
	come      int64
}

func (p *pull) heard(come, all int64) {
	p.come = come
	now := p.now()
	if now.Sub(p.at) < tellEvery || now.Sub(p.began) < tellEvery {
		return
	}
	p.at = now
	text := size(come)
	if all > 0 {
		text += " of " + size(all)
	}
	p.report.Progress("pulling %s, %s (%s)", p.image, text, perSecond(come, now.Sub(p.began)))
}

func (p *pull) end() {
	took := p.now().Sub(p.began)
	p.report.Progress("pulled %s in %s (%s)", size(p.come), took.Round(100*time.Millisecond), perSecond(p.come, took))
}

// perSecond formats the rate at which bytes came.
func perSecond(bytes int64, took time.Duration) string {
	return fmt.Sprintf("%.1f MiB/s", float64(bytes)/(1<<20)/max(took.Seconds(), 0.001))
}
