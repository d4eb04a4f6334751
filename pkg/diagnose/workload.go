package diagnose

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// Workload is a workload cluster to diagnose, and its management cluster.
type Workload struct {
	Management *kube.Cluster
	Self       clusters.Scope    // the management cluster's own Cluster
	Provider   provider.Provider // creates the machines of the management cluster
	Secrets    []map[string]any  // documents of values that reports leave out

	Scope clusters.Scope
	// Owns reports whether an object in the namespace of the scope belongs to the workload cluster.
	Owns func(client.Object) bool
}

// RunWorkload diagnoses a workload cluster, for at most a minute: its objects in the management cluster, what the
// management cluster needs to make it, its machines, and the cluster itself. It changes nothing.
func RunWorkload(ctx context.Context, w Workload, more ...Rule) (Report, error) {
	bounded, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	known := redact.New()
	for _, document := range w.Secrets {
		known.Add(redact.FromValues(document)...)
	}
	c := Case{Environment: w.name(), Scope: w.Scope, workload: true}
	cluster := side{machines: w.machines(bounded, &c), narrow: w.narrow}
	c.Clusters = append(c.Clusters, see(bounded, w.Management, cluster, known))
	w.seeItself(bounded, &c, known)
	r, err := c.Report(more...)
	if err != nil {
		return Report{}, err
	}
	r.redact(known)
	return r, ctx.Err()
}

func (w Workload) name() string { return w.Scope.Namespace + "/" + w.Scope.Cluster }

// machines returns the provider of the management cluster if the workload cluster has the same one. Otherwise it
// returns nil.
func (w Workload) machines(ctx context.Context, c *Case) provider.Provider {
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var kinds []string
	for _, scope := range []clusters.Scope{w.Self, w.Scope} {
		read := &unstructured.Unstructured{}
		read.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
		key := client.ObjectKey{Namespace: scope.Namespace, Name: scope.Cluster}
		if err := w.Management.Get(bounded, key, read); apierrors.IsNotFound(err) {
			return nil // then there are no machines
		} else if err != nil {
			c.NotChecked = append(c.NotChecked, fmt.Sprintf("the infrastructure provider of Cluster %s: %v", key, err))
			return nil
		}
		kinds = append(kinds, health.InfrastructureOf(read).Kind)
	}
	if kinds[0] != kinds[1] {
		return nil
	}
	return w.Provider
}

// seeItself reads the workload cluster, if it has an address already.
func (w Workload) seeItself(ctx context.Context, c *Case, known *redact.Redactor) {
	kubeconfig, err := clusters.WorkloadAccess(ctx, w.Management, w.name())
	var itself *kube.Cluster
	if err == nil {
		itself, err = clusters.Connect(w.name(), kubeconfig)
	}
	if err != nil {
		c.NotChecked = append(c.NotChecked, fmt.Sprintf("the cluster %s itself: %v", w.name(), err))
		return
	}
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := itself.Reachable(bounded); err != nil {
		c.Observed = append(c.Observed, Signals{health.Ref{Kind: "APIServer", Name: w.name()},
			[]Signal{{Origin: originError, Message: err.Error()}}})
		return
	}
	c.Clusters = append(c.Clusters, see(ctx, itself, side{}, known))
}

// narrow leaves out of an observation of the management cluster what belongs to other clusters. It also leaves out the
// release of a cluster that is being deleted: the deletion suspends it.
func (w Workload) narrow(o readiness.Observation) readiness.Observation {
	left := map[health.Ref]bool{}
	deleting := slices.ContainsFunc(o.Objects, func(u *unstructured.Unstructured) bool {
		return isCluster(health.RefOf(u)) && w.Owns(u) && u.GetDeletionTimestamp() != nil
	})
	for _, u := range o.Objects {
		r := health.RefOf(u)
		left[r] = w.isOthers(u) || deleting && isFlux(r) && r.Namespace != flux.Namespace
	}
	o.Objects = slices.DeleteFunc(slices.Clone(o.Objects),
		func(u *unstructured.Unstructured) bool { return left[health.RefOf(u)] })
	o.Probes = slices.DeleteFunc(slices.Clone(o.Probes), func(p readiness.Probe) bool { return left[p.Object] })
	o.Missing = slices.DeleteFunc(slices.Clone(o.Missing), func(m readiness.Applied) bool { return left[m.By] })
	o.Expiries = slices.DeleteFunc(slices.Clone(o.Expiries), func(e readiness.Expiry) bool { return left[e.Object] })
	return o
}

// isOthers reports whether an object belongs to another Cluster, or to a release outside of flux-system that is not the
// workload cluster's.
func (w Workload) isOthers(u *unstructured.Unstructured) bool {
	r := health.RefOf(u)
	switch of := u.GetLabels()[clusterv1.ClusterNameLabel]; {
	case r.Namespace == w.Scope.Namespace && w.Owns(u):
		return false
	case isCluster(r):
		return true
	case isFlux(r):
		return r.Namespace != flux.Namespace
	default:
		return of != ""
	}
}

func isCluster(r health.Ref) bool {
	return r.Group == clusterv1.GroupVersion.Group && r.Kind == clusterv1.ClusterKind
}
