package bootstrap

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Registry starts the registry container next to the clusters, and fills it with the embedded source content, the
// bundle's images, and the files that machines install.
type Registry struct {
	Wanted
	Serves    string             // for a cluster of `install`, see owned.ServesLabel
	Published *content.Published // set by Run if the source is embedded: what Flux reads in the later phases
}

// Check finds nothing to do if Flux reads from another source and nothing else must be served.
func (r Registry) Check(context.Context) (pipeline.Status, error) {
	if r.Bundle == nil && len(r.Programs.Files) == 0 && r.Source.Kind != source.Embedded {
		return nothingToDo("not needed: Flux reads from " + string(r.Source.Kind))
	}
	return pipeline.Status{}, nil
}

// Run starts and fills the registry.
func (r Registry) Run(ctx context.Context, report pipeline.Reporter) error {
	image, err := registry.EnsureImage(ctx, r.Engine, r.Binary)
	if err != nil {
		return err
	}
	if err := r.Engine.ProbePrivileged(ctx, image, "--version"); err != nil {
		return err
	}
	var running *registry.Registry
	err = lock.UnderNetwork(ctx, r.StateFolder, func() (err error) {
		running, err = registry.EnsureRegistry(ctx, r.Engine,
			registry.EnsureOptions{Cluster: r.Environment.ClusterName(), Serves: r.Serves, Binary: r.Binary})
		return err
	})
	if err != nil {
		return err
	}
	defer running.Close()
	report.Progress("registry %s is running", running.Name)
	target := oci.Target{Prefix: running.Host, Insecure: true, Options: running.RemoteOptions()}
	if b := r.Bundle; b != nil {
		if err := bundle.FillRegistry(ctx, target, b, b.References(bundle.LoadRegistry),
			progress(report, "pushing", "pushed")); err != nil {
			return err
		}
	}
	if err := r.publishPrograms(ctx, target, report); err != nil {
		return err
	}
	if r.Source.Kind != source.Embedded {
		return nil
	}
	return r.publish(ctx, target, report)
}

// publishPrograms pushes the files that machines install, for the engine's architecture.
func (r Registry) publishPrograms(ctx context.Context, target oci.Target, report pipeline.Reporter) error {
	if len(r.Programs.Files) == 0 {
		return nil
	}
	info, err := r.Engine.Info(ctx)
	if err != nil {
		return err
	}
	programs := r.Programs
	programs.Fetching = func(path string) { report.Progress("fetching %s for machines", path) }
	if err := content.PublishPrograms(ctx, target, programs, info.Architecture); err != nil {
		return err
	}
	report.Progress("published %d files of Kubernetes for machines", len(programs.Files))
	return nil
}

func (r Registry) publish(ctx context.Context, target oci.Target, report pipeline.Reporter) error {
	paths, err := r.Environment.ComponentPaths()
	if err != nil {
		return err
	}
	p, err := content.Publish(ctx, target, content.PublishOptions{FS: r.Content, Profile: r.Profile, Paths: paths,
		Fetch: r.Manifests})
	if err != nil {
		return fmt.Errorf("publish the content: %w", err)
	}
	*r.Published = p
	report.Progress("published %s and %s", p.Content.Ref(), p.Chart.Ref())
	return nil
}
