package clusters

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// observationBound bounds the observation of the clusters: one that has not answered by then is silent.
const observationBound = 30 * time.Second

// Observe observes the bootstrap cluster, the management cluster and the machines. It changes nothing, and loses no
// error: each is part of the observation.
func (w *World) Observe(ctx context.Context) Observation { return w.observe(ctx, w.SeeManagement) }

// observe is Observe with another way to observe the management cluster.
func (w *World) observe(ctx context.Context, see func(context.Context, []byte) ManagementSide) Observation {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	var o Observation
	var beside sync.WaitGroup
	beside.Go(func() { o.Machines, o.MachinesErr = w.machines(whole) })
	o.Bootstrap = w.seeBootstrap(ctx)
	o.Management = notBootstrap(see(ctx, o.Bootstrap.Kubeconfig), o.Bootstrap)
	o.LocalEvidence = ReadLocalEvidence(w.StateFolder, w.Cluster)
	beside.Wait()
	return o
}

// machines lists the machines. A project with thousands of resources takes longer to list than a cluster takes to
// answer, so --timeout raises this bound.
func (w *World) machines(ctx context.Context) ([]provider.Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, w.inventoryBound())
	defer cancel()
	return w.Provider.Machines(ctx)
}

func (w *World) inventoryBound() time.Duration {
	return min(max(observationBound, w.Timeout/60), 4*time.Minute)
}

// ObserveClusters observes the two clusters only, through the existing connections, so many phases can afford it. It
// does not list the machines, and knows nothing about a cluster without a connection.
func (w *World) ObserveClusters(ctx context.Context) Observation {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	o := Observation{Bootstrap: BootstrapSide{State: BootstrapAbsent},
		Management: ManagementSide{State: ManagementAbsent}, MachinesErr: provider.ErrNotSupported}
	var both sync.WaitGroup
	if w.bootstrap != nil {
		both.Go(func() { o.Bootstrap = w.readBootstrap(ctx, w.bootstrap) })
	}
	if w.management != nil {
		known := candidate{named: w.KubeconfigPath, kubeconfig: w.management.Kubeconfig, proven: true}
		both.Go(func() {
			o.Management = w.readManagement(ctx, known, w.management)
			o.Management.Answered = o.Management.State == ManagementSilent
		})
	}
	both.Wait()
	return o
}

// hold returns what a cluster holds of the scope. If the scope's Cluster is missing, it also returns a managed one of
// that name in another namespace.
func (w *World) hold(ctx context.Context, c *kube.Cluster) (holds Holding, elsewhere *capi.Cluster, err error) {
	if holds, err = Hold(ctx, c.Client, w.Scope); err != nil ||
		holds.Cluster(w.Cluster) != nil {
		return holds, nil, err
	}
	all, err := capi.Clusters(ctx, c.Client, "")
	if err != nil {
		return holds, nil, err
	}
	own := func(c capi.Cluster) bool {
		return c.Namespace == w.Scope.Namespace && c.Name == w.Cluster
	}
	if slices.ContainsFunc(all, own) { // it was created between the two requests
		holds, err = Hold(ctx, c.Client, w.Scope)
		return holds, nil, err
	}
	// an unmanaged Cluster may have the name
	ours := slices.DeleteFunc(all, func(c capi.Cluster) bool { return !isOurs(c) })
	return holds, Holding{Clusters: ours}.Cluster(w.Cluster), nil
}

// takenDown reports whether a cluster records that the management cluster is being deleted: in its own Cluster, or in
// the release, which outlives it.
func (w *World) takenDown(ctx context.Context, c *kube.Cluster, holds Holding) (bool, error) {
	if own := holds.Cluster(w.Cluster); own != nil {
		return own.Deleting || own.Annotations[owned.DownAnnotation] != "", nil
	}
	return rollout.TeardownRequested(ctx, c, owned.SuspendedFor(w.Namespace,
		w.Cluster))
}

// isOurs reports whether `up` had the Cluster created. Its own definitions carry the label; the component cluster
// applies those of a user.
func isOurs(c capi.Cluster) bool {
	by := func(what string) string { return c.Labels[kustomizev1.GroupVersion.Group+"/"+what] }
	return c.Labels[owned.ClusterLabel] == c.Name || by("name") == "cluster" && by("namespace") == flux.Namespace
}

func (w *World) otherNamespace(where string, other *capi.Cluster) error {
	return fault.New(fault.ClusterForeign, fmt.Sprintf("the %s holds %s, and this run uses namespace %s", where,
		other, w.Namespace),
		"A management cluster cannot change its namespace: add --set cluster.namespace="+other.Namespace+
			", or give the new cluster another name with --set cluster.name=NAME.")
}
