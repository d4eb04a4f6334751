package workload

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// source is what the chart and the components of a workload cluster come from: the source of the management cluster's
// own release. Flux lets no release read a source of another namespace, so the namespace gets a copy.
type source struct {
	fromGit bool
	chart   string          // name of the copy with the chart
	content reference       // the copy with the components
	objects []client.Object // the copies, and their Secrets first
}

// reference names a source as the chart's value source does.
type reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// ownSources returns the sources of the chart and of the components of the management cluster's release.
func ownSources(ctx context.Context, management *kube.Cluster) (chart, content reference, err error) {
	var release helmv2.HelmRelease
	own := client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}
	if err := management.Get(ctx, own, &release); err != nil {
		return chart, content, fmt.Errorf("read the HelmRelease %s in the %s cluster: %w", own, management.Name, err)
	}
	var values struct {
		Source reference `json:"source"`
	}
	if release.Spec.Values != nil {
		if err := yaml.Unmarshal(release.Spec.Values.Raw, &values); err != nil {
			return chart, content, fmt.Errorf("read the values of the HelmRelease %s: %w", own, err)
		}
	}
	switch {
	case release.Spec.ChartRef != nil:
		chart = reference{release.Spec.ChartRef.Kind, release.Spec.ChartRef.Name}
	case release.Spec.Chart != nil:
		chart = reference{release.Spec.Chart.Spec.SourceRef.Kind, release.Spec.Chart.Spec.SourceRef.Name}
	}
	return chart, values.Source, nil
}

// copySource reads the source of the management cluster's release, and returns its copy for a workload cluster.
func copySource(ctx context.Context, management *kube.Cluster, to Key) (source, error) {
	chart, content, err := ownSources(ctx, management)
	if err != nil {
		return source{}, err
	}
	c := copier{management: management, to: to}
	for _, r := range []reference{chart, content} {
		if err := c.copy(ctx, r); err != nil {
			return source{}, err
		}
	}
	return source{fromGit: chart.Kind == sourcev1.GitRepositoryKind, chart: to.called(chart.Name),
		content: reference{content.Kind, to.called(content.Name)}, objects: c.objects}, nil
}

// copier copies sources of flux-system into the namespace of a workload cluster.
type copier struct {
	management *kube.Cluster
	to         Key
	objects    []client.Object
}

// secretFields are where a source names a Secret of its namespace.
func secretFields() [][]string {
	return [][]string{{"secretRef"}, {"certSecretRef"}, {"proxySecretRef"}, {"verify", "secretRef"}}
}

// copy adds the copy of a source and of its Secrets, unless it is there already: chart and components may share one.
func (c *copier) copy(ctx context.Context, r reference) error {
	if r.Kind != sourcev1.GitRepositoryKind && r.Kind != sourcev1.OCIRepositoryKind {
		return fault.New(fault.Usage,
			fmt.Sprintf("the release of the management cluster has a source of kind %q: want GitRepository or "+
				"OCIRepository", r.Kind),
			"Change its source: cluster-init up ENVIRONMENT --source git --source-url URL.")
	}
	for _, o := range c.objects {
		if o.GetName() == c.to.called(r.Name) && o.GetObjectKind().GroupVersionKind().Kind == r.Kind {
			return nil
		}
	}
	original := &unstructured.Unstructured{}
	original.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(r.Kind))
	if err := c.management.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: r.Name}, original); err != nil {
		return fmt.Errorf("read %s %s/%s in the %s cluster: %w", r.Kind, flux.Namespace, r.Name, c.management.Name, err)
	}
	spec, _, err := unstructured.NestedMap(original.Object, "spec")
	if err != nil {
		return fmt.Errorf("read the spec of %s %s/%s: %w", r.Kind, flux.Namespace, r.Name, err)
	}
	for _, field := range secretFields() {
		name, named, _ := unstructured.NestedString(spec, append(field, "name")...)
		if !named {
			continue
		}
		if err := c.copySecret(ctx, name); err != nil {
			return err
		}
		if err := unstructured.SetNestedField(spec, c.to.called(name), append(field, "name")...); err != nil {
			return fmt.Errorf("set the Secret's name in %s %s: %w", r.Kind, r.Name, err)
		}
	}
	delete(spec, "suspend")
	copied := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	copied.SetGroupVersionKind(original.GroupVersionKind())
	c.to.name(copied, r.Name)
	c.objects = append(c.objects, copied)
	return nil
}

func (c *copier) copySecret(ctx context.Context, name string) error {
	var original corev1.Secret
	if err := c.management.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: name}, &original); err != nil {
		return fmt.Errorf("read Secret %s/%s in the %s cluster: %w", flux.Namespace, name, c.management.Name, err)
	}
	copied := &corev1.Secret{Type: original.Type, Data: original.Data}
	c.to.name(copied, name)
	c.objects = append(c.objects, copied)
	return nil
}
