package bootstrap

import (
	"context"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Images loads what the Docker engine itself runs, the node image and the load balancer, from the bundle.
type Images struct {
	Bundle *bundle.Bundle // nil: there is none
	Engine *docker.Client
}

// Check finds nothing to do without a bundle.
func (i Images) Check(context.Context) (pipeline.Status, error) {
	if i.Bundle == nil {
		return nothingToDo("no bundle: they come from their registries")
	}
	return pipeline.Status{}, nil
}

// Does says what Run does, for people.
func (i Images) Does() string {
	if i.Bundle == nil || len(i.Bundle.References(bundle.LoadDocker)) == 0 {
		return "none"
	}
	return "load into the Docker engine what it lacks of " + strings.Join(i.Bundle.References(bundle.LoadDocker), ", ")
}

// Run loads them.
func (i Images) Run(ctx context.Context, report pipeline.Reporter) error {
	return bundle.LoadImages(ctx, i.Engine, i.Bundle, i.Bundle.References(bundle.LoadDocker), progress(report, "loading"))
}

func progress(report pipeline.Reporter, verb string) bundle.Progress {
	return func(done, total int, what string) {
		if what != "" {
			report.Progress("%s %d of %d: %s", verb, done+1, total, what)
		}
	}
}

// nothingToDo is the answer of a Check that found nothing to do.
func nothingToDo(why string) (pipeline.Status, error) {
	return pipeline.Status{State: pipeline.Done, Message: why}, nil
}
