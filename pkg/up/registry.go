package up

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// registryContent starts the registry that lives beside the clusters and fills it: with the content that Flux syncs from, and with the
// bundle's images.
type registryContent struct {
	asked     Options
	engine    *docker.Client
	fetch     content.Fetcher
	published *content.Published // what the phases after it have Flux read
}

func (r registryContent) check(context.Context) (pipeline.Status, error) {
	if r.asked.Bundle == nil && r.asked.Source.Kind != source.Embedded {
		return nothingToDo("not needed: Flux reads from " + string(r.asked.Source.Kind))
	}
	return pipeline.Status{}, nil
}

func (r registryContent) run(ctx context.Context, report pipeline.Reporter) error {
	image, err := registry.EnsureImage(ctx, r.engine, r.asked.Binary)
	if err != nil {
		return err
	}
	if err := r.engine.ProbePrivileged(ctx, image, "--version"); err != nil {
		return err
	}
	var running *registry.Registry
	err = underNetworkLock(ctx, r.asked.StateFolder, func() (err error) {
		running, err = registry.EnsureRegistry(ctx, r.engine, registry.EnsureOptions{Cluster: r.asked.Environment.ClusterName(), Binary: r.asked.Binary})
		return err
	})
	if err != nil {
		return err
	}
	defer running.Close()
	report.Progress("registry %s is running", running.Name)
	target := oci.Target{Prefix: running.Host, Insecure: true, Options: running.RemoteOptions()}
	if b := r.asked.Bundle; b != nil {
		if err := bundle.FillRegistry(ctx, target, b, b.References(bundle.LoadRegistry), progress(report, "pushing")); err != nil {
			return err
		}
	}
	if r.asked.Source.Kind != source.Embedded {
		return nil
	}
	return r.publish(ctx, target, report)
}

func (r registryContent) publish(ctx context.Context, target oci.Target, report pipeline.Reporter) error {
	paths, err := r.asked.Environment.ComponentPaths()
	if err != nil {
		return err
	}
	p, err := content.Publish(ctx, target, content.PublishOptions{FS: r.asked.Content, Profile: r.asked.Profile, Paths: paths, Fetch: r.fetch})
	if err != nil {
		return fmt.Errorf("publish the content: %w", err)
	}
	*r.published = p
	report.Progress("published %s and %s", p.Content.Ref(), p.Chart.Ref())
	return nil
}
