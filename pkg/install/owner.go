package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// checkOwner refuses a cluster that has the release of another management cluster, or of one that `up` builds.
func (r *Run) checkOwner(ctx context.Context) error {
	of, err := rollout.Installed(ctx, r.cluster)
	if err != nil {
		return err
	}
	self := r.Environment.SelfName()
	switch of {
	case "":
	case self:
		return nil
	default:
		return installedElse(of)
	}
	by, _, err := rollout.Occupied(ctx, r.cluster)
	if err != nil {
		return err
	}
	if by != "" && by != r.Cluster {
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the cluster has the release of the management cluster %s",
			by),
			"A cluster has one release: change it with its own environment.")
	}
	if by != "" {
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the cluster has values of the management cluster %s that "+
			"install did not store", by), "If cluster-init up builds or has built it: cluster-init up "+r.Argument+".")
	}
	own, err := clusters.Own(ctx, r.cluster, r.Scope)
	switch {
	case err != nil:
		return fmt.Errorf("read the Cluster %s: %w", self, err)
	case own != nil:
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the cluster holds the Cluster %s: cluster-init up builds "+
			"or "+
			"has built it", self), "Change it with cluster-init up "+r.Argument+".")
	}
	release := metadataOf(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	release.Namespace, release.Name = flux.Namespace, flux.ReleaseName
	exists, err := r.cluster.Exists(ctx, release)
	if err != nil || !exists {
		return err
	}
	return fault.New(fault.ClusterForeign, fmt.Sprintf("HelmRelease %s/%s was not created by install for %s",
		flux.Namespace, flux.ReleaseName, self),
		"Delete it with the tool that created it, or use another cluster.")
}

// installedElse refuses a cluster in which another environment is installed.
func installedElse(of string) error {
	return fault.New(fault.ClusterForeign, fmt.Sprintf("cluster-init install made the cluster the management cluster "+
		"%s",
		of), "A cluster has one release. Change it with its own environment, or remove it first: "+
		"cluster-init uninstall ENVIRONMENT --kubeconfig FILE.")
}

// definedBy returns definitions by which an installed component is recognized, wherever its controllers run.
func (r *Run) definedBy(component string) []string {
	if component != r.Environment.InfraProvider() {
		return map[string][]string{
			"cert-manager": {"certificates.cert-manager.io"},
			"capi":         {"clusters.cluster.x-k8s.io"},
			"cabpk": {"kubeadmconfigs.bootstrap.cluster.x-k8s.io",
				"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"},
			"cabpr": {"rke2configs.bootstrap.cluster.x-k8s.io", "rke2controlplanes.controlplane.cluster.x-k8s.io"},
			"orc":   {"images.openstack.k-orc.cloud"},
		}[component]
	}
	var names []string
	for _, kind := range r.world.Provider.Kinds() {
		names = append(names, kind.Resource+"."+kind.Group)
	}
	return names
}

// checkForeign refuses components that something else has installed: two owners would undo each other's changes.
func (r *Run) checkForeign(ctx context.Context) error {
	components, err := r.Environment.Components(environment.Management)
	if err != nil {
		return err
	}
	made, err := r.made(ctx)
	if err != nil {
		return err
	}
	values := r.Environment.Values(environment.Management)
	var found []string
	for _, component := range components {
		for _, definition := range r.definedBy(component.Name) {
			if err := r.find(ctx, crdKind(), client.ObjectKey{Name: definition}, made.applied, &found); err != nil {
				return err
			}
		}
		for _, namespace := range namespacesOf(values, component.Name) {
			list := metadataList(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			if err := r.cluster.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return fmt.Errorf("list the Deployments of %s: %w", namespace, err)
			}
			for i := range list.Items {
				list.Items[i].SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
				ours, err := r.appliedOrOwned(ctx, made, &list.Items[i])
				if err != nil {
					return fmt.Errorf("find the owner of Deployment %s/%s: %w", namespace, list.Items[i].Name, err)
				}
				if !ours {
					found = append(found, "Deployment "+namespace+"/"+list.Items[i].Name)
				}
			}
		}
	}
	for _, name := range flux.Controllers() {
		key := client.ObjectKey{Namespace: flux.Namespace, Name: name}
		if err := r.find(ctx, appsv1.SchemeGroupVersion.WithKind("Deployment"), key, appliedByUs, &found); err != nil {
			return err
		}
	}
	for _, name := range []string{"kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io"} {
		if err := r.find(ctx, crdKind(), client.ObjectKey{Name: name}, appliedByUs, &found); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fault.New(fault.ClusterForeign, "the cluster has components of another owner: "+
		strings.Join(slices.Compact(found), ", "),
		"Remove them, or use another cluster. For a working cert-manager, add --adopt cert-manager.")
}

// find adds an object to found if it exists and is not ours.
func (r *Run) find(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey,
	ours func(metav1.Object) bool, found *[]string) error {
	o := metadataOf(kind)
	o.Namespace, o.Name = key.Namespace, key.Name
	exists, err := r.cluster.Exists(ctx, o)
	if err == nil && exists && !ours(o) {
		*found = append(*found, kind.Kind+" "+strings.TrimPrefix(key.String(), "/"))
	}
	return err
}

func crdKind() schema.GroupVersionKind {
	return apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
}

func metadataOf(kind schema.GroupVersionKind) object {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

func metadataList(kind schema.GroupVersionKind) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// appliedByUs reports whether this program has applied an object itself, as it does Flux.
func appliedByUs(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == kube.FieldOwner && f.Operation == metav1.ManagedFieldsOperationApply
	})
}

// namespacesOf returns the namespaces of a component, without those that every cluster has.
func namespacesOf(values map[string]any, component string) []string {
	components, _ := values["components"].(map[string]any)
	fields, _ := components[component].(map[string]any)
	list, _ := fields["namespaces"].([]any)
	var namespaces []string
	for _, each := range list {
		if name, is := each.(string); is && name != "kube-system" && name != "default" {
			namespaces = append(namespaces, name)
		}
	}
	return namespaces
}

// ofComponents returns the changes of components: an installed cluster has no machines that other changes could
// replace.
func ofComponents(changes []environment.Change) []environment.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c environment.Change) bool {
		return !strings.HasPrefix(c.Key, "components")
	})
}
