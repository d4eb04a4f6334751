package workload

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Cluster is a workload cluster as an environment defines it.
type Cluster struct {
	Management  *kube.Cluster
	Self        Key                      // the management cluster's own Cluster
	Environment *environment.Environment // loaded with Options.Workload
	Machines    []environment.Range      // the networks of its machines
	Provider    provider.Provider        // makes its machines
	Follow      rollout.Options
	// AllowChanges are the keys of the changes that may remove something from the cluster.
	AllowChanges []string
	// Settled, if set, gets the environment as it is applied, before anything is: with secrets of the management
	// cluster.
	Settled func(*environment.Environment)
}

// Key returns the names of the cluster.
func (c Cluster) Key() Key {
	return Key{Namespace: c.Environment.ClusterNamespace(), Name: c.Environment.ClusterName()}
}

// Apply creates or changes the cluster, and waits until it is ready.
func (c Cluster) Apply(ctx context.Context, report pipeline.Reporter) error {
	// the phase before has warned already
	applied, err := c.check(ctx, &pipeline.Notes{})
	if err != nil {
		return err
	}
	objects, err := c.render(ctx, applied)
	if err != nil {
		return err
	}
	if err := c.checkOwner(ctx); err != nil {
		return err
	}
	if addressed, err := provider.MakeAddress(ctx, c.Provider, applied, report); err != nil {
		return err
	} else if addressed != applied {
		if objects, err = c.render(ctx, addressed); err != nil {
			return err
		}
	}
	if err := c.Management.ApplyAll(ctx, objects...); err != nil {
		return err
	}
	key, now := c.Key(), c.Follow.Now()
	release := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := flux.RequestReset(ctx, c.Management, release, now); err != nil {
		return err
	}
	report.Progress("applied the HelmRelease %s", key)
	follow := c.Follow
	follow.Cluster = rollout.Key{Kind: "Cluster", Namespace: key.Namespace, Name: key.Name}
	goal := rollout.GoalOf(c.Management, key.object(), now.Format(time.RFC3339Nano), "workload cluster "+key.String())
	goal.Owns = key.Owns
	return rollout.NewIn(c.Management, key.Namespace, follow).Await(ctx, goal, report)
}

// Render returns the objects that Apply applies, in that order. It checks what Apply checks, and changes nothing.
func (c Cluster) Render(ctx context.Context, report pipeline.Reporter) ([]client.Object, error) {
	applied, err := c.check(ctx, report)
	if err != nil {
		return nil, err
	}
	switch {
	case applied.LacksAddress():
		report.Warn("the API server of %s has no address yet: apply makes a floating IP. If Flux applies what is "+
			"printed, the provider makes one, and deletes it with its machine: set cluster.openstack.api_server.floating_ip",
			c.Key())
	case applied.ManagesAddress() && applied.ManagedAddress() == "":
		report.Warn("nothing reserves the address of the API server of %s yet: apply does. If Flux applies what is "+
			"printed, make a port with the address %s first", c.Key(), applied.OpenStack().APIServer.FixedIP)
	}
	return c.render(ctx, applied)
}

// render returns the objects of the environment as it is applied.
func (c Cluster) render(ctx context.Context, applied *environment.Environment) ([]client.Object, error) {
	c.Environment = applied
	if c.Settled != nil {
		c.Settled(c.Environment)
	}
	objects, err := c.objects(ctx)
	if err != nil {
		return nil, err
	}
	return objects, c.checkForeign(ctx, objects)
}

// objects returns what makes the cluster, in the order in which it is applied.
func (c Cluster) objects(ctx context.Context) ([]client.Object, error) {
	key := c.Key()
	values, err := c.Environment.Objects()
	if err != nil {
		return nil, fmt.Errorf("render the values of workload cluster %s: %w", key, err)
	}
	from, err := copySource(ctx, c.Management, key)
	if err != nil {
		return nil, err
	}
	phase := c.Environment.PhaseValues(environment.Workload)
	release, err := flux.HelmRelease(flux.Release{Namespace: key.Namespace, Name: key.Name, FromGit: from.fromGit,
		Chart: from.chart, Values: map[string]any{"phase": environment.Workload, "source": from.content},
		ValuesFrom: []flux.ValuesReference{{Kind: "ConfigMap", Name: phase.Name},
			{Kind: "ConfigMap", Name: values.Values.Name}, {Kind: "Secret", Name: values.Secrets.Name},
			{Kind: "Secret", Name: values.InfraSecrets.Name}}})
	if err != nil {
		return nil, err
	}
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}}
	objects = append(objects, from.objects...)
	for _, o := range []client.Object{phase, values.Values, values.Secrets, values.InfraSecrets, release} {
		key.label(o)
		objects = append(objects, o)
	}
	return objects, nil
}
