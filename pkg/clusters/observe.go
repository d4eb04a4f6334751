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

// observationBound is for one look at all: what has not answered by then is silent.
const observationBound = 30 * time.Second

// Observe looks at the bootstrap cluster, the management cluster and the machines. It changes nothing, and no error is
// lost: each is part of what was seen.
func (w *World) Observe(ctx context.Context) Observation {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	var o Observation
	var beside sync.WaitGroup
	beside.Go(func() { o.Machines, o.MachinesErr = w.machines(whole) })
	o.Bootstrap = w.seeBootstrap(ctx)
	o.Management = notBootstrap(w.SeeManagement(ctx, o.Bootstrap.Kubeconfig), o.Bootstrap)
	o.LocalEvidence = ReadLocalEvidence(w.StateFolder, w.Cluster)
	beside.Wait()
	return o
}

// machines asks which machines exist. A project with thousands of resources takes longer to list than a cluster takes
// to answer, so --timeout raises this bound.
func (w *World) machines(ctx context.Context) ([]provider.Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, w.inventoryBound())
	defer cancel()
	return w.Provider.Machines(ctx)
}

func (w *World) inventoryBound() time.Duration {
	return min(max(observationBound, w.Timeout/60), 4*time.Minute)
}

// ObserveClusters looks at the two clusters only, through the connections that there are: a look that many phases can
// afford. Nobody asks which machines exist, so without a cluster that answers nothing is known.
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

// hold returns what a cluster holds of ours, and a Cluster of our name in another namespace if it has none in ours.
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
	if slices.ContainsFunc(all, own) { // it was made in between
		holds, err = Hold(ctx, c.Client, w.Scope)
		return holds, nil, err
	}
	ours := slices.DeleteFunc(all, func(c capi.Cluster) bool { return !isOurs(c) }) // others may have the name
	return holds, Holding{Clusters: ours}.Cluster(w.Cluster), nil
}

// takenDown says whether a cluster says that the management cluster is taken down: by its own Cluster, or by the
// release, which outlives it.
func (w *World) takenDown(ctx context.Context, c *kube.Cluster, holds Holding) (bool, error) {
	if own := holds.Cluster(w.Cluster); own != nil {
		return own.Deleting || own.Annotations[owned.DownAnnotation] != "", nil
	}
	return rollout.TeardownRequested(ctx, c, owned.SuspendedFor(w.Namespace,
		w.Cluster))
}

// isOurs says whether `up` had the Cluster made: its own definitions carry the label, and those of a user are applied
// by the component cluster.
func isOurs(c capi.Cluster) bool {
	by := func(what string) string { return c.Labels[kustomizev1.GroupVersion.Group+"/"+what] }
	return c.Labels[owned.ClusterLabel] == c.Name || by("name") == "cluster" && by("namespace") == flux.Namespace
}

func (w *World) otherNamespace(where string, other *capi.Cluster) error {
	return fault.New(fault.ClusterForeign, fmt.Sprintf("the %s holds %s, and this run is about namespace %s", where,
		other, w.Namespace),
		"A management cluster cannot change its namespace: add --set cluster.namespace="+other.Namespace+
			", or give this one another name with --set cluster.name=NAME.")
}
