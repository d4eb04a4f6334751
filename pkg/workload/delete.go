package workload

import (
	"context"
	"fmt"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Deletion deletes a workload cluster that `workload apply` or a commit has made.
type Deletion struct {
	Management *kube.Cluster
	Key        Key
	Cluster    clusters.Deletion
	// Provider returns the infrastructure provider of the cluster from its stored values.
	Provider func(environment.Objects) (provider.Provider, error)
}

// Check refuses a cluster that has no release of its own. It returns nil for one whose deletion was interrupted.
func (d Deletion) Check(ctx context.Context) error {
	var release helmv2.HelmRelease
	err := d.Management.Get(ctx, d.Key.object(), &release)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read the HelmRelease %s: %w", d.Key, err)
	case release.Labels[Label] == d.Key.Name:
		return d.checkOwner(ctx, release.Labels)
	}
	cluster, err := clusters.Own(ctx, d.Management, d.scope())
	switch {
	case err != nil:
		return fmt.Errorf("read the Cluster %s: %w", d.Key, err)
	case cluster == nil:
		return fault.New(fault.Usage, "workload cluster "+d.Key.String()+" does not exist",
			"List the workload clusters: cluster-init workload list --in ENVIRONMENT.")
	}
	return fault.New(fault.ClusterForeign, fmt.Sprintf("the Cluster %s has no HelmRelease with the label %s: "+
		"another owner created it", d.Key, Label), fmt.Sprintf("Delete it with the tool that created it, or with "+
		"kubectl -n %s delete clusters.cluster.x-k8s.io %s.", d.Key.Namespace, d.Key.Name))
}

// checkOwner refuses while a Kustomization, for example of a Git repository, would apply the release again.
func (d Deletion) checkOwner(ctx context.Context, labels map[string]string) error {
	appliers, err := appliersOf(ctx, d.Management, d.Key, labels)
	if err != nil {
		return err
	}
	var wrong []error
	for _, a := range appliers {
		message := fmt.Sprintf("the %s would apply the HelmRelease %s again", a, d.Key)
		wrong = append(wrong, fault.New(fault.ClusterForeign, message, fmt.Sprintf("Suspend it: %s. Resume "+
			"it after you have deleted the cluster and removed it from the source of the %s.",
			a.SuspendCommand(), a.Kind)))
	}
	return fault.Join(wrong...)
}

// appliersOf returns what would apply the HelmRelease of a workload cluster again. labels are those of the HelmRelease.
func appliersOf(ctx context.Context, management *kube.Cluster, key Key, labels map[string]string) (rollout.Appliers,
	error) {
	all, err := rollout.ReadAppliers(ctx, management)
	return all.Of(health.Ref{Group: helmv2.GroupVersion.Group, Kind: helmv2.HelmReleaseKind, Namespace: key.Namespace,
		Name: key.Name}, labels), err
}

func (d Deletion) scope() clusters.Scope {
	return clusters.Scope{Namespace: d.Key.Namespace, Cluster: d.Key.Name}
}

// Run suspends what would apply the cluster again, deletes the Cluster, waits until its controllers have deleted all of
// it, and then deletes the release. It can be run again at any time. It changes nothing if it could not delete the
// cluster's address later.
func (d Deletion) Run(ctx context.Context, report pipeline.Reporter) error {
	if err := d.Check(ctx); err != nil {
		return err
	}
	address, err := d.checkAddress(ctx)
	if err != nil {
		return err
	}
	if err := d.suspend(ctx); err != nil {
		return err
	}
	if err := d.Cluster.Delete(ctx, d.scope(), report); err != nil {
		return err
	}
	if err := d.deleteApplied(ctx, report); err != nil {
		return err
	}
	if err := d.deleteAddress(ctx, address, report); err != nil {
		return err
	}
	if err := d.checkGone(ctx, report); err != nil {
		return err
	}
	// The HelmRelease is last: with it a run that is interrupted begins again.
	for _, kind := range []schema.GroupVersionKind{
		kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind),
		sourcev1.GroupVersion.WithKind(sourcev1.GitRepositoryKind),
		sourcev1.GroupVersion.WithKind(sourcev1.OCIRepositoryKind),
		sourcev1.GroupVersion.WithKind(sourcev1.HelmRepositoryKind),
		sourcev1.GroupVersion.WithKind(sourcev1.HelmChartKind),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"),
	} {
		if err := d.deleteAll(ctx, kind); err != nil {
			return err
		}
	}
	release := &helmv2.HelmRelease{}
	release.Namespace, release.Name = d.Key.Namespace, d.Key.Name
	if err := client.IgnoreNotFound(d.Management.Delete(ctx, release)); err != nil {
		return fmt.Errorf("delete the HelmRelease %s: %w", d.Key, err)
	}
	report.Progress("deleted the HelmRelease %s, with its values and its source", d.Key)
	return nil
}

// suspend suspends the release first, which would undo the rest, then its Kustomizations and the HelmReleases of its
// charts. The HelmReleases stay suspended: Helm uninstalls nothing then, neither in this cluster nor in the one that
// goes away, and Run deletes the objects of the release itself.
func (d Deletion) suspend(ctx context.Context) error {
	list, err := flux.Kustomizations(ctx, d.Management)
	if err != nil {
		return err
	}
	release := &helmv2.HelmRelease{}
	release.Namespace, release.Name = d.Key.Namespace, d.Key.Name
	objects := []client.Object{release}
	for i := range list {
		if list[i].Namespace == d.Key.Namespace && d.Key.made(&list[i]) {
			objects = append(objects, &list[i])
		}
	}
	charts, err := d.chartReleases(ctx)
	if err != nil {
		return err
	}
	for _, o := range append(objects, charts...) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))
		if err := client.IgnoreNotFound(d.Management.Patch(ctx, o, patch)); err != nil {
			return fmt.Errorf("suspend %s of workload cluster %s: %w", o.GetName(), d.Key, err)
		}
	}
	return nil
}

// chartReleases returns the HelmReleases of the components that are Helm charts.
func (d Deletion) chartReleases(ctx context.Context) ([]client.Object, error) {
	kind := helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := d.Management.List(ctx, list, client.InNamespace(d.Key.Namespace),
		client.MatchingLabels{owned.ClusterLabel: d.Key.Name}); err != nil {
		return nil, fmt.Errorf("list the HelmReleases of workload cluster %s: %w", d.Key, err)
	}
	var found []client.Object
	for i := range list.Items {
		if o := &list.Items[i]; o.Name != d.Key.Name && d.Key.isChart(o.Name) {
			o.SetGroupVersionKind(kind)
			found = append(found, o)
		}
	}
	return found, nil
}

// deleteAll deletes the objects of a kind that the release made, that `workload apply` made, in which Helm keeps the
// release, and in which Flux keeps its chart and those of its components.
func (d Deletion) deleteAll(ctx context.Context, kind schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{} // Secrets without their content
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := d.Management.List(ctx, list, client.InNamespace(d.Key.Namespace)); err != nil {
		return fmt.Errorf("list %s of namespace %s: %w", kind.Kind, d.Key.Namespace, err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		o.SetGroupVersionKind(kind)
		labels := o.GetLabels()
		ofHelm := kind.Kind == "Secret" && labels["owner"] == "helm" && labels["name"] == d.Key.Name
		ofFlux := kind.Kind == sourcev1.HelmChartKind &&
			d.Key.isChart(strings.TrimPrefix(o.GetName(), d.Key.Namespace+"-"))
		if labels[Label] != d.Key.Name && !d.Key.made(o) && !ofHelm && !ofFlux {
			continue
		}
		if err := client.IgnoreNotFound(d.Management.Delete(ctx, o)); err != nil {
			return fmt.Errorf("delete %s %s: %w", kind.Kind, client.ObjectKeyFromObject(o), err)
		}
	}
	return nil
}
