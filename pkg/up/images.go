package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// images loads what the Docker engine itself runs, the node image and the load balancer, from the bundle.
type images struct {
	bundle *bundle.Bundle // nil: there is none
	engine *docker.Client
}

func (i images) check(context.Context) (pipeline.Status, error) {
	if i.bundle == nil {
		return nothingToDo("no bundle: they come from their registries")
	}
	return pipeline.Status{}, nil
}

func (i images) run(ctx context.Context, report pipeline.Reporter) error {
	return bundle.LoadImages(ctx, i.engine, i.bundle, i.bundle.References(bundle.LoadDocker), progress(report, "loading"))
}

func progress(report pipeline.Reporter, verb string) bundle.Progress {
	return func(done, total int, what string) {
		if what != "" {
			report.Progress("%s %d of %d: %s", verb, done+1, total, what)
		}
	}
}
