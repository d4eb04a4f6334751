package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// tellEvery is how often a pull says how far it is.
const tellEvery = 5 * time.Second

// pullNodeImage has the engine pull the node image, unless it has it: kind would, but it says nothing until the image
// is there. What cannot be pulled is left to kind, which tries several times and has the last word.
func (c Cluster) pullNodeImage(ctx context.Context, report pipeline.Reporter) error {
	image := c.BootstrapImage()
	switch there, err := c.Engine.ImageExists(ctx, image); {
	case err != nil: // kind asks again
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
		report.Progress("kind tries it, as this failed: %v", err)
		return nil
	}
	if there, _ := c.Engine.ImageExists(ctx, image); there { // else it did not say why it has none: kind finds out
		p.end()
	}
	return nil
}

// pull says how far the pull of an image is.
type pull struct {
	image     string
	report    pipeline.Reporter
	now       func() time.Time
	began, at time.Time // at: when it said something
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

// perSecond is how fast bytes came.
func perSecond(bytes int64, took time.Duration) string {
	return fmt.Sprintf("%.1f MiB/s", float64(bytes)/(1<<20)/max(took.Seconds(), 0.001))
}
