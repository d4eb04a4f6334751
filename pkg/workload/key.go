// Package workload makes and observes the workload clusters of a management cluster. Each one is a HelmRelease of the
// chart telco-cloud-init in the namespace of its Cluster: what this package does, a commit or kubectl can do, too.
package workload

import (
	"cmp"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Label is on each object of a workload cluster that cluster-init applies. It holds the cluster's name.
const Label = owned.WorkloadLabel

// Key names a workload cluster: its Cluster, and its HelmRelease.
type Key struct{ Namespace, Name string }

// String is for people.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// Compare orders keys by namespace, then by name.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}

// object is the key of the Cluster, and of the HelmRelease.
func (k Key) object() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.Name}
}

// called is the name of the cluster's own copy of an object. The chart names objects in the same way, as a namespace
// may hold several clusters.
func (k Key) called(name string) string {
	return k.Name + "-" + strings.TrimPrefix(name, flux.ReleaseName+"-")
}

// name gives a copy of the object original its name, namespace and labels.
func (k Key) name(o client.Object, original string) {
	o.SetNamespace(k.Namespace)
	o.SetName(k.called(original))
	k.label(o)
}

// made reports whether Helm made an object for the cluster's release.
func (k Key) made(o client.Object) bool { return rollout.Made(k.object(), o) }

// isChart reports whether a HelmRelease of the cluster's namespace, by its name, is that of the cluster or of one of
// its components. A dot separates them, which no cluster's name has.
func (k Key) isChart(release string) bool {
	return release == k.Name || strings.HasPrefix(release, k.Name+".")
}

func (k Key) label(o client.Object) {
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[owned.ClusterLabel], labels[Label] = k.Name, k.Name
	o.SetLabels(labels)
}
