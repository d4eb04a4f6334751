package workload

import (
	"context"
	"fmt"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// State is the state of a workload cluster in a list.
type State string

// The states of a workload cluster.
const (
	Ready       State = "Ready"
	Progressing State = "Progressing"
	Failed      State = "Failed"
	Paused      State = "Paused"
	Deleting    State = "Deleting"
)

// Listed is a cluster that a management cluster manages besides itself.
type Listed struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     State  `json:"state"`
	Message   string `json:"message,omitempty"`
	// Release is false for a Cluster that something else than `workload apply` made.
	Release bool `json:"release"`
}

// List returns the clusters that a management cluster manages, without its own: self. It sends two requests.
func List(ctx context.Context, management *kube.Cluster, self Key) ([]Listed, error) {
	releases, err := releases(ctx, management)
	if err != nil {
		return nil, err
	}
	all, err := capi.Clusters(ctx, management, "")
	if err != nil {
		return nil, fmt.Errorf("list the Clusters that the management cluster manages: %w", err)
	}
	found := map[Key]Listed{}
	for _, c := range all {
		key := Key{c.Namespace, c.Name}
		if key != self {
			found[key] = listedOf(key, &c, nil)
		}
	}
	for i := range releases {
		key := Key{releases[i].GetNamespace(), releases[i].GetName()}
		at := slices.IndexFunc(all, func(c capi.Cluster) bool {
			return c.Namespace == key.Namespace && c.Name == key.Name
		})
		var cluster *capi.Cluster
		if at >= 0 {
			cluster = &all[at]
		}
		found[key] = listedOf(key, cluster, &releases[i])
	}
	list := make([]Listed, 0, len(found))
	for _, l := range found {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Listed) int {
		return Key{a.Namespace, a.Name}.Compare(Key{b.Namespace, b.Name})
	})
	return list, nil
}

// releases returns the HelmReleases of workload clusters. A cluster without Flux has none.
func releases(ctx context.Context, management *kube.Cluster) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind + "List"))
	err := management.List(ctx, list, client.HasLabels{Label})
	switch {
	case kube.NotServed(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list the HelmReleases of workload clusters: %w", err)
	}
	return list.Items, nil
}

// Releases returns the workload clusters that have a release, and the labels of that.
func Releases(ctx context.Context, management *kube.Cluster) (map[Key]map[string]string, error) {
	list, err := releases(ctx, management)
	if err != nil {
		return nil, err
	}
	found := map[Key]map[string]string{}
	for i := range list {
		found[Key{list[i].GetNamespace(), list[i].GetName()}] = list[i].GetLabels()
	}
	return found, nil
}

// listedOf judges a Cluster and its release. Either may be nil.
func listedOf(key Key, cluster *capi.Cluster, release *unstructured.Unstructured) Listed {
	l := Listed{Namespace: key.Namespace, Name: key.Name, State: Progressing, Release: release != nil}
	if release != nil {
		switch state := health.Of(release); {
		case state.Status == health.Failed:
			l.State, l.Message = Failed, state.Message
			return l
		case state.Status != health.Ready:
			l.Message = state.Message
			return l
		}
	}
	switch {
	case cluster == nil:
		l.Message = "its Cluster does not exist yet"
	case cluster.Deleting:
		l.State = Deleting
	case cluster.Paused:
		l.State = Paused
	case cluster.Available.True():
		l.State = Ready
	default:
		l.Message = cluster.Available.Message
	}
	return l
}

// Owns reports whether an object of the namespace belongs to the cluster, or to its release.
func (k Key) Owns(o client.Object) bool {
	if o.GetNamespace() != k.Namespace {
		return false
	}
	labels := o.GetLabels()
	kind := o.GetObjectKind().GroupVersionKind().Kind
	isItself := o.GetName() == k.Name && (kind == helmv2.HelmReleaseKind || kind == clusterv1.ClusterKind)
	return isItself || labels[Label] == k.Name || labels[clusterv1.ClusterNameLabel] == k.Name ||
		labels[owned.ClusterLabel] == k.Name || k.made(o)
}
