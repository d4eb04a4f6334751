// Package rollout applies the release of one cluster and follows it until its goal is reached.
package rollout

import (
	"context"
	"maps"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Release is the telco-cloud-init HelmRelease of one cluster at one time.
type Release struct {
	Environment *environment.Environment
	Source      source.Source
	Published   content.Published // for an embedded source
	Phase       environment.Phase
	// Definition is false while another cluster still owns the cluster definitions: the component `cluster` is off.
	Definition bool
	// ProvidersOnly is for a bootstrap cluster that installs nothing else in the management cluster.
	ProvidersOnly bool
	// Annotations are further ones of the ConfigMap with the values.
	Annotations map[string]string
}

// values are the chart values that cluster-init itself decides. They override all others.
func (r Release) values() map[string]any {
	values := map[string]any{"phase": string(r.Phase), "source": r.Source.Values()}
	off := map[string]any{}
	if !r.Definition {
		off[definitionComponent] = map[string]any{"enabled": false}
	}
	if r.ProvidersOnly {
		for _, component := range insideComponents() {
			off[component] = map[string]any{"enabled": false}
		}
	}
	if len(off) > 0 {
		values["components"] = off
	}
	return values
}

// definitionComponent is the component that defines the cluster.
const definitionComponent = "cluster"

// insideComponents are the components that the bootstrap cluster installs in the management cluster.
func insideComponents() []string { return []string{"cni", "cloud-provider", "cinder-csi"} }

// objects returns all objects that the release needs in the cluster, in the order in which Apply applies them.
func (r Release) objects() ([]client.Object, error) {
	values, err := r.Environment.Objects()
	if err != nil {
		return nil, err
	}
	maps.Copy(values.Values.Annotations, r.Annotations)
	objects := []client.Object{values.Values, values.Secrets, values.InfraSecrets}
	spec := flux.Release{FromGit: r.Source.Kind == source.Git, Values: r.values()}
	if own := r.Environment.PhaseValues(r.Phase); own != nil {
		objects = append(objects, own)
		spec.ValuesFrom = append(spec.ValuesFrom, flux.ValuesReference{Kind: "ConfigMap", Name: own.Name})
	}
	spec.ValuesFrom = append(spec.ValuesFrom,
		flux.ValuesReference{Kind: "ConfigMap", Name: values.Values.Name},
		flux.ValuesReference{Kind: "Secret", Name: values.Secrets.Name},
		flux.ValuesReference{Kind: "Secret", Name: values.InfraSecrets.Name})
	helmRelease, err := flux.HelmRelease(spec)
	if err != nil {
		return nil, err
	}
	objects = append(objects, r.Source.Objects(r.Published)...)
	return append(objects, helmRelease), nil
}

// Apply applies the release to a cluster, resumes what was suspended there for a pivot that did not start, and requests
// a reconciliation. It returns the token that the HelmRelease's status carries once Flux has handled the request.
func (r Release) Apply(ctx context.Context, c *kube.Cluster, s Suspension, now time.Time) (token string, err error) {
	objects, err := r.objects()
	if err != nil {
		return "", err
	}
	if err := c.ApplyAll(ctx, objects...); err != nil {
		return "", err
	}
	if err := s.resume(ctx, r.Definition); err != nil {
		return "", err
	}
	return now.Format(time.RFC3339Nano), flux.RequestReset(ctx, c, helmRelease(), now)
}

// Goal is that the HelmRelease of c was reconciled after token (empty: at any time), and that its Kustomizations are
// ready at the published revision, except the components that are left out; with `cluster` so are the pools of workers.
func (r Release) Goal(c *kube.Cluster, token string, leftOut ...string) Goal {
	return Goal{What: "the components of the " + c.Name + " cluster", Ready: []Key{releaseKey()},
		Handled: map[Key]string{releaseKey(): token},
		Made:    madeGoals(c, ownRelease(), token, leftOut), Revision: r.Source.Revision(r.Published)}
}

func releaseKey() Key { return keyOf(ownRelease()) }

func helmRelease() *helmv2.HelmRelease {
	return &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
}
