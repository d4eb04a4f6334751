package bootstrap

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Images loads, from the bundle, the images that the Docker engine itself runs, such as the node image.
type Images struct {
	Bundle *bundle.Bundle // nil: there is none
	Engine *docker.Client
}

// Check finds nothing to do without a bundle.
func (i Images) Check(context.Context) (pipeline.Status, error) {
	if i.Bundle == nil {
		return nothingToDo("no bundle: the engine pulls them from their registries")
	}
	return pipeline.Status{}, nil
}

// Does describes Run for people.
func (i Images) Does() string {
	if i.Bundle == nil || len(i.Bundle.References(bundle.LoadDocker)) == 0 {
		return "none"
	}
	return "load missing images into the Docker engine: " + strings.Join(i.Bundle.References(bundle.LoadDocker), ", ")
}

// Run loads them.
func (i Images) Run(ctx context.Context, report pipeline.Reporter) error {
	return bundle.LoadImages(ctx, i.Engine, i.Bundle, i.Bundle.References(bundle.LoadDocker),
		progress(report, "loading", "loaded"))
}

// progress reports a transfer of images. verb and past are the present and the past tense of what happens to them.
func progress(report pipeline.Reporter, verb, past string) bundle.Progress {
	return func(s bundle.Step) {
		switch {
		case s.What == "" && s.Sent > 0:
			report.Progress("%s %s in %s (%s)", past, size(s.Sent), s.Elapsed.Round(100*time.Millisecond), rate(s))
		case s.What == "":
		case s.Sent == 0:
			report.Progress("%s %d of %d: %s (%s)", verb, s.Done+1, s.Total, s.What, size(s.Size))
		default:
			report.Progress("%s %d of %d: %s, %s of %s (%s)", verb, s.Done+1, s.Total, s.What, size(s.Sent),
				size(s.Size), rate(s))
		}
	}
}

// size formats a number of bytes for people.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// rate formats the speed of a step until now.
func rate(s bundle.Step) string {
	return fmt.Sprintf("%.1f MiB/s", float64(s.Sent)/(1<<20)/max(s.Elapsed.Seconds(), 0.001))
}

// nothingToDo is the result of a Check that found nothing to do.
func nothingToDo(why string) (pipeline.Status, error) {
	return pipeline.Status{State: pipeline.Done, Message: why}, nil
}
