package drift

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// Comparison compares an environment with its clusters.
type Comparison struct {
	Environment *environment.Environment
	Tree        content.Tree // the content, with the release files in it
	// Management is nil if there is no management cluster, or if it does not answer. Then the objects that the
	// bootstrap cluster's Flux applies to it are not compared. ManagementErr says why it does not answer.
	Management    *kube.Cluster
	ManagementErr error
	Known         *redact.Redactor // secrets to mask outside of Secrets
}

// requestTimeout limits one request to a cluster, or a few that belong together.
const requestTimeout = 20 * time.Second

// Compare returns how a cluster differs from the environment in a phase. It stops at the first error, and returns what
// it found before.
func (c Comparison) Compare(ctx context.Context, cluster *kube.Cluster, phase environment.Phase) Cluster {
	found := Cluster{Name: cluster.Name, Server: cluster.Config.Host, Phase: phase, Parts: []Part{}}
	if err := c.compare(ctx, cluster, &found); err != nil {
		found.Error = c.Known.Text(err.Error())
	}
	return found
}

func (c Comparison) compare(ctx context.Context, cluster *kube.Cluster, found *Cluster) error {
	overrides, exists, err := releaseValues(ctx, cluster)
	if err != nil {
		return err
	}
	if !exists {
		found.All, found.Note = true, "no release of "+flux.ReleaseName+" yet: everything would be created"
		return nil
	}
	applied, err := c.applied(ctx, cluster)
	if err != nil {
		return err
	}
	rendered, err := manifests.Render(ctx, applied, found.Phase, overrides, c.Tree)
	if err != nil {
		return err
	}
	values, err := compareValues(ctx, cluster, applied)
	if err := found.add(values, err); err != nil {
		return err
	}
	chart, err := c.chart(ctx, cluster, rendered)
	if err := found.add(chart, err); err != nil {
		return err
	}
	for _, component := range rendered.Components {
		part, err := c.component(ctx, cluster, rendered, component)
		if err := found.add(part, err); err != nil {
			return err
		}
	}
	return nil
}

// add adds a part, and returns the error that ended its comparison. Such a part is not unchanged: it has a note.
func (c *Cluster) add(part Part, err error) error {
	if err != nil {
		part.Note = "not compared completely"
	}
	c.Parts = append(c.Parts, part)
	return err
}

// applied returns the environment as a run would apply it to the cluster.
func (c Comparison) applied(ctx context.Context, cluster *kube.Cluster) (*environment.Environment, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return rollout.Applied(ctx, cluster, c.Environment)
}

// releaseValues returns spec.values of the HelmRelease, which override the environment's. They depend on the phase of a
// run and on the source of Flux.
func releaseValues(ctx context.Context, cluster *kube.Cluster) (values map[string]any, exists bool, err error) {
	release := &helmv2.HelmRelease{}
	release.Namespace, release.Name = flux.Namespace, flux.ReleaseName
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if exists, err = cluster.Exists(ctx, release); err != nil || !exists {
		return nil, false, err
	}
	if release.Spec.Values != nil {
		err = unpack.Unmarshal(release.Spec.Values.Raw, &values)
	}
	if err != nil {
		err = fmt.Errorf("read the values of HelmRelease %s in the %s cluster: %w", flux.ReleaseName, cluster.Name, err)
	}
	return values, true, err
}

// compareValues compares the values of the environment with those last applied to the cluster.
func compareValues(ctx context.Context, cluster *kube.Cluster, env *environment.Environment) (Part, error) {
	part := Part{Name: "values", Objects: []Object{}}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	changes, appliedFor, err := rollout.Differences(ctx, cluster, env)
	switch {
	case err != nil:
		return part, err
	case appliedFor == "":
		part.All, part.Note = true, "no values were applied to the cluster yet"
		return part, nil
	case appliedFor != env.ClusterName():
		part.All, part.Note = true, "the applied values are those of another cluster, "+appliedFor
		return part, nil
	}
	for _, change := range changes {
		field := Field{Path: change.Key}
		if change.From != "" || change.To != "" { // Secrets have neither: From and To stay nil.
			field.From, field.To = change.From, change.To
		}
		part.Values = append(part.Values, field)
	}
	return part, nil
}

func objectOf(change Change, u *unstructured.Unstructured) Object {
	return Object{Change: change, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
