package bootstrap

import (
	"context"
	"slices"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// release is the telco-cloud-init HelmRelease of one cluster at one time.
type release struct {
	phase environment.Phase
	// definition is false while another cluster still owns the cluster definitions: the component `cluster` is off.
	definition bool
}

// values are what cluster-init itself decides about the chart; they win over all others.
func (u *Up) values(r release) map[string]any {
	values := map[string]any{"phase": string(r.phase), "source": u.Source.Values()}
	if !r.definition {
		values["components"] = map[string]any{"cluster": map[string]any{"enabled": false}}
	}
	return values
}

// releaseObjects returns all that has to be in the cluster for the release, in the order in which it is applied.
func (u *Up) releaseObjects(r release) ([]client.Object, error) {
	values, err := u.Environment.Objects()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{values.Values, values.Secrets, values.InfraSecrets}
	spec := flux.Release{FromGit: u.Source.Kind == source.Git, Values: u.values(r)}
	if r.phase == environment.Bootstrap {
		objects = append(objects, u.Environment.BootstrapValues())
		spec.ValuesFrom = append(spec.ValuesFrom, flux.ValuesReference{Kind: "ConfigMap", Name: environment.BootstrapValuesName})
	}
	spec.ValuesFrom = append(spec.ValuesFrom,
		flux.ValuesReference{Kind: "ConfigMap", Name: environment.ValuesName},
		flux.ValuesReference{Kind: "Secret", Name: environment.SecretsName},
		flux.ValuesReference{Kind: "Secret", Name: environment.InfraSecretsName})
	helmRelease, err := flux.HelmRelease(spec)
	if err != nil {
		return nil, err
	}
	objects = append(objects, u.Source.Objects(u.found.published)...)
	return append(objects, helmRelease), nil
}

// applyRelease applies the release and has Flux look at it now; it returns the token that the HelmRelease's status
// carries once Flux has done so.
func (u *Up) applyRelease(ctx context.Context, c *kube.Cluster, r release) (string, error) {
	objects, err := u.releaseObjects(r)
	if err != nil {
		return "", err
	}
	if err := c.ApplyAll(ctx, objects...); err != nil {
		return "", err
	}
	if err := resumeAll(ctx, c, u.scope()); err != nil {
		return "", err
	}
	now := u.Now()
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
	return now.Format(time.RFC3339Nano), flux.RequestReset(ctx, c, hr, now)
}

// resumeAll takes back what an earlier run suspended for a pivot that did not start.
func resumeAll(ctx context.Context, c *kube.Cluster, scope pivot.Scope) error {
	list, err := flux.Kustomizations(ctx, c)
	if err != nil {
		return err
	}
	for i := range list {
		if isSuspendedFor(scope, list[i]) {
			if err := flux.SetSuspended(ctx, c, &list[i], false); err != nil {
				return err
			}
		}
	}
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
	return flux.SetSuspended(ctx, c, hr, false)
}

// releaseGoal is that the HelmRelease was reconciled after token and that its Kustomizations are ready at the revision
// that is published now, all but those that are left out.
func (u *Up) releaseGoal(c *kube.Cluster, r release, token string, leftOut ...string) (goal, error) {
	rendered, err := u.Environment.Render(r.phase, u.values(r))
	if err != nil {
		return goal{}, err
	}
	g := goal{what: "the components of the " + c.Name + " cluster", ready: []key{{helmv2.HelmReleaseKind, flux.Namespace, flux.ReleaseName}},
		handled:  map[key]string{{helmv2.HelmReleaseKind, flux.Namespace, flux.ReleaseName}: token},
		revision: u.Source.Revision(u.found.published)}
	for _, o := range rendered {
		if o.GetKind() == kustomizev1.KustomizationKind && !slices.Contains(leftOut, o.GetName()) {
			g.ready = append(g.ready, key{o.GetKind(), o.GetNamespace(), o.GetName()})
		}
	}
	return g, nil
}

// follow watches all that says how far a cluster is, until g is reached.
func (u *Up) follow(ctx context.Context, c *kube.Cluster, g goal, report pipeline.Reporter) error {
	f := follower{cluster: c, heartbeat: u.Heartbeat, silence: maxSilence, resources: slices.Concat(fluxResources(), clusterResources(), u.Provider.Kinds()),
		nudge: func(ctx context.Context, o *unstructured.Unstructured) error {
			return flux.RequestReconcile(ctx, c, o.DeepCopy(), u.Now())
		},
		wake: func(ctx context.Context, o *unstructured.Unstructured) error { return wake(ctx, c, o.DeepCopy()) }}
	return f.await(ctx, g, report)
}
