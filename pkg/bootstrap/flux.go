package bootstrap

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Flux installs the version of Flux that this program contains.
type Flux struct {
	Environment *environment.Environment
	Phase       environment.Phase // of the cluster
	Fetch       content.Fetcher
	Follow      rollout.Options
	Source      source.Kind // of the components there
	// Shared reports whether the cluster is the user's own: its Flux must not restrict other users.
	Shared bool
}

// restrictions returns the features of Flux to disable, because nothing in this cluster needs them.
func (f Flux) restrictions() (flux.Restrictions, error) {
	if f.Shared {
		return flux.Restrictions{}, nil
	}
	asked := f.Environment.Spec().Flux
	git, err := f.Environment.ReadsGit()
	if err != nil {
		return flux.Restrictions{}, err
	}
	crosses, err := f.Environment.CrossesNamespaces(f.Phase)
	return flux.Restrictions{
		// Content that cluster-init publishes contains its remote bases.
		NoRemoteBases:        asked.NoRemoteBases || f.Source != source.Git && !git,
		NoCrossNamespaceRefs: asked.NoCrossNamespaceRefs && !crosses,
	}, err
}

// Installed reports whether all controllers of this version are available and can pull with the current logins.
func (f Flux) Installed(ctx context.Context, c *kube.Cluster) (bool, error) {
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		exists, err := c.Exists(ctx, d)
		if err != nil || !exists || d.Labels[flux.VersionLabel] != flux.Version || d.Status.AvailableReplicas == 0 {
			return false, err
		}
	}
	return f.hasPullSecret(ctx, c)
}

// Install installs Flux and waits until its controllers are available.
func (f Flux) Install(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	archive, err := f.Fetch.Fetch(ctx, flux.ManifestsURL)
	if err != nil {
		return fmt.Errorf("fetch Flux's manifests: %w", err)
	}
	pull, err := f.pullSecret()
	if err != nil {
		return err
	}
	restrictions, err := f.restrictions()
	if err != nil {
		return err
	}
	options := flux.Options{
		Archive: archive, Environment: proxyVariables(f.Environment, f.Phase), Restrictions: restrictions,
	}
	if pull != nil {
		options.ImagePullSecret = pull.GetName()
	}
	objects, err := flux.Render(options)
	if err != nil {
		return err
	}
	if pull != nil {
		objects = append(objects, pull)
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

// pullSecret is the Secret with which Flux's own Pods pull their images. Nil means no registry needs a login.
func (f Flux) pullSecret() (*unstructured.Unstructured, error) {
	config, err := f.Environment.DockerConfig()
	if err != nil || config == nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": string(corev1.SecretTypeDockerConfigJson),
		"metadata": map[string]any{"name": flux.PullSecretName, "namespace": flux.Namespace},
		"data":     map[string]any{corev1.DockerConfigJsonKey: base64.StdEncoding.EncodeToString(config)},
	}}, nil
}

// hasPullSecret reports whether the cluster has the current logins, or needs none.
func (f Flux) hasPullSecret(ctx context.Context, c *kube.Cluster) (bool, error) {
	config, err := f.Environment.DockerConfig()
	if err != nil || config == nil {
		return err == nil, err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: flux.PullSecretName, Namespace: flux.Namespace}}
	exists, err := c.Exists(ctx, secret)
	return exists && bytes.Equal(secret.Data[corev1.DockerConfigJsonKey], config), err
}

// proxyVariables are the proxy settings that Flux's controllers need to reach sources.
func proxyVariables(e *environment.Environment, phase environment.Phase) []flux.EnvironmentVariable {
	p := e.Spec().Proxies
	if p.HTTP == "" && p.HTTPS == "" {
		return nil
	}
	return []flux.EnvironmentVariable{{Name: "HTTP_PROXY", Value: p.HTTP}, {Name: "HTTPS_PROXY", Value: p.HTTPS},
		{Name: "NO_PROXY", Value: e.NoProxy(phase)}}
}
