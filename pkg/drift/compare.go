package drift

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	// Management is nil if there is none, or if it does not answer (ManagementErr). Then the objects that the bootstrap
	// cluster's Flux applies to it are not compared.
	Management    *kube.Cluster
	ManagementErr error
	Known         *redact.Redactor // secrets to mask outside of Secrets
}

// askBound limits one request to a cluster.
const askBound = 20 * time.Second

// Compare returns how a cluster differs in a phase. It stops at the first request without an answer, and returns what
// it has found until then.
func (c Comparison) Compare(ctx context.Context, in *kube.Cluster, phase environment.Phase) Cluster {
	found := Cluster{Name: in.Name, Server: in.Config.Host, Phase: phase, Parts: []Part{}}
	if err := c.compare(ctx, in, &found); err != nil {
		found.Error = c.Known.Text(err.Error())
	}
	return found
}

func (c Comparison) compare(ctx context.Context, in *kube.Cluster, found *Cluster) error {
	overrides, there, err := given(ctx, in)
	if err != nil {
		return err
	}
	if !there {
		found.All, found.Note = true, "no release of "+flux.ReleaseName+" yet: everything would be created"
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	if c.Environment, err = rollout.Applied(bounded, in, c.Environment); err != nil {
		return err
	}
	rendered, err := manifests.Render(ctx, c.Environment, found.Phase, overrides, c.Tree)
	if err != nil {
		return err
	}
	values, err := c.values(ctx, in)
	found.Parts = append(found.Parts, values)
	if err != nil {
		return err
	}
	chart, err := c.chart(ctx, in, rendered)
	found.Parts = append(found.Parts, chart)
	if err != nil {
		return err
	}
	for _, component := range rendered.Components {
		part, err := c.component(ctx, in, rendered, component)
		found.Parts = append(found.Parts, part)
		if err != nil {
			return err
		}
	}
	return nil
}

// given returns the values in the cluster's HelmRelease itself. They depend on the phase of a run and on the source of
// Flux.
func given(ctx context.Context, in *kube.Cluster) (values map[string]any, there bool, err error) {
	release := &helmv2.HelmRelease{}
	release.Namespace, release.Name = flux.Namespace, flux.ReleaseName
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	if there, err = in.Exists(ctx, release); err != nil || !there {
		return nil, false, err
	}
	if release.Spec.Values != nil {
		err = unpack.Unmarshal(release.Spec.Values.Raw, &values)
	}
	if err != nil {
		err = fmt.Errorf("read the values of HelmRelease %s in the %s cluster: %w", flux.ReleaseName, in.Name, err)
	}
	return values, true, err
}

// values compares the values of the environment with those last applied to the cluster.
func (c Comparison) values(ctx context.Context, in *kube.Cluster) (Part, error) {
	part := Part{Name: "values", Objects: []Object{}}
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	changes, whose, err := rollout.Differences(ctx, in, c.Environment)
	switch {
	case err != nil:
		return part, err
	case whose == "":
		part.All, part.Note = true, "no values were applied to the cluster yet"
		return part, nil
	case whose != c.Environment.ClusterName():
		part.All, part.Note = true, "the applied values are those of another cluster, "+whose
		return part, nil
	}
	for _, change := range changes {
		field := Field{Path: change.Key}
		if change.From != "" || change.To != "" {
			field.From, field.To = change.From, change.To
		}
		part.Values = append(part.Values, field)
	}
	return part, nil
}

// silent reports whether an error means that nothing answered.
func silent(err error) bool {
	_, unreached := errors.AsType[*url.Error](err)
	return unreached || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func objectOf(change Change, u *unstructured.Unstructured) Object {
	return Object{Change: change, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
