package bootstrap

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Flux installs the version of Flux that this program carries.
type Flux struct {
	Environment *environment.Environment
	Phase       environment.Phase // of the cluster
	Fetch       content.Fetcher
	Follow      rollout.Options
}

// Installed is whether all controllers of this version are available.
func (f Flux) Installed(ctx context.Context, c *kube.Cluster) (bool, error) {
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		exists, err := c.Exists(ctx, d)
		if err != nil || !exists || d.Labels[flux.VersionLabel] != flux.Version || d.Status.AvailableReplicas == 0 {
			return false, err
		}
	}
	return true, nil
}

// Install installs Flux and waits until its controllers are available.
func (f Flux) Install(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	archive, err := f.Fetch.Fetch(ctx, flux.ManifestsURL)
	if err != nil {
		return fmt.Errorf("fetch Flux's manifests: %w", err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive, Environment: proxyVariables(f.Environment, f.Phase)})
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
	return rollout.NewDeployments(c, flux.Namespace, f.Follow).Await(ctx, g, report)
}

// proxyVariables are what Flux's controllers need to reach sources.
func proxyVariables(e *environment.Environment, phase environment.Phase) []flux.EnvironmentVariable {
	p := e.Spec().Proxies
	if p.HTTP == "" && p.HTTPS == "" {
		return nil
	}
	return []flux.EnvironmentVariable{{Name: "HTTP_PROXY", Value: p.HTTP}, {Name: "HTTPS_PROXY", Value: p.HTTPS}, {Name: "NO_PROXY", Value: e.NoProxy(phase)}}
}
