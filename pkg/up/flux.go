package up

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// fluxIn installs Flux in one of the two clusters.
type fluxIn struct {
	cluster    string
	world      clusters
	flux       fluxInstaller
	untilPivot bool // after the pivot nobody needs it there
}

func (f fluxIn) check(ctx context.Context) (pipeline.Status, error) {
	if f.untilPivot {
		if status, err := beforePivot(ctx, f.world, "not needed any more"); err != nil || status.State == pipeline.Done {
			return status, err
		}
	}
	c, err := f.world.Connected(f.cluster)
	if err != nil {
		return pipeline.Status{}, err
	}
	installed, err := f.flux.installed(ctx, c)
	if err != nil || !installed {
		return pipeline.Status{}, err
	}
	return nothingToDo("Flux " + flux.Version + " is running")
}

func (f fluxIn) run(ctx context.Context, report pipeline.Reporter) error {
	c, err := f.world.Connected(f.cluster)
	if err != nil {
		return err
	}
	if f.cluster == world.ManagementName { // until the pivot, what the bootstrap cluster still has to install there, as the network, holds it up
		seen, err := f.world.progress(ctx)
		if err != nil {
			return err
		}
		if bootstrap, err := f.world.Connected(world.BootstrapName); err == nil && seen == goOn {
			f.flux.follow.Beside = bootstrap
		}
	}
	return f.flux.install(ctx, c, report)
}

// fluxInstaller installs the version of Flux that this program carries.
type fluxInstaller struct {
	environment *environment.Environment
	fetch       content.Fetcher
	follow      rollout.Options
}

// installed is whether all controllers of this version are available.
func (f fluxInstaller) installed(ctx context.Context, c *kube.Cluster) (bool, error) {
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		exists, err := c.Exists(ctx, d)
		if err != nil || !exists || d.Labels[flux.VersionLabel] != flux.Version || d.Status.AvailableReplicas == 0 {
			return false, err
		}
	}
	return true, nil
}

// install installs Flux and waits until its controllers are available.
func (f fluxInstaller) install(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	archive, err := f.fetch.Fetch(ctx, flux.ManifestsURL)
	if err != nil {
		return fmt.Errorf("fetch Flux's manifests: %w", err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive, Environment: proxyVariables(f.environment)})
	if err != nil {
		return err
	}
	if err := flux.Install(ctx, c, objects); err != nil {
		return err
	}
	report.Progress("applied Flux %s", flux.Version)
	g := rollout.Goal{What: "Flux's controllers in the " + c.Name + " cluster"}
	for _, name := range flux.Controllers() {
		g.Ready = append(g.Ready, rollout.Key{Kind: "Deployment", Namespace: flux.Namespace, Name: name})
	}
	return rollout.NewDeployments(c, flux.Namespace, f.follow).Await(ctx, g, report)
}

// proxyVariables are what Flux's controllers need to reach sources.
func proxyVariables(e *environment.Environment) []flux.EnvironmentVariable {
	p := e.Spec().Proxies
	if p.HTTP == "" && p.HTTPS == "" {
		return nil
	}
	return []flux.EnvironmentVariable{{Name: "HTTP_PROXY", Value: p.HTTP}, {Name: "HTTPS_PROXY", Value: p.HTTPS}, {Name: "NO_PROXY", Value: e.NoProxy()}}
}
