package up

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// fluxInstalled is the Check of the phases that install Flux: all controllers of this version are available.
func (u *Run) fluxInstalled(ctx context.Context, c *kube.Cluster) (pipeline.Status, error) {
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		exists, err := c.Exists(ctx, d)
		if err != nil || !exists {
			return pipeline.Status{}, err
		}
		if d.Labels[flux.VersionLabel] != flux.Version || d.Status.AvailableReplicas == 0 {
			return pipeline.Status{}, nil
		}
	}
	return u.done("Flux " + flux.Version + " is running")
}

// installFlux installs Flux and waits until its controllers are available.
func (u *Run) installFlux(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	archive, err := u.Manifests.Fetch(ctx, flux.ManifestsURL)
	if err != nil {
		return fmt.Errorf("fetching Flux's manifests: %w", err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive, Environment: u.proxyVariables()})
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
	return rollout.NewDeployments(c, flux.Namespace, u.following(c)).Await(ctx, g, report)
}

// proxyVariables are what Flux's controllers need to reach sources.
func (u *Run) proxyVariables() []flux.EnvironmentVariable {
	p := u.Environment.Spec().Proxies
	if p.HTTP == "" && p.HTTPS == "" {
		return nil
	}
	return []flux.EnvironmentVariable{
		{Name: "HTTP_PROXY", Value: p.HTTP}, {Name: "HTTPS_PROXY", Value: p.HTTPS}, {Name: "NO_PROXY", Value: u.Environment.NoProxy()},
	}
}
