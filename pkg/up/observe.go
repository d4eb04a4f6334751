package up

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// observationBound is for one look at all: what has not answered by then is silent.
const observationBound = 30 * time.Second

// observe looks at the bootstrap cluster, the management cluster and the machines. It changes nothing, and no error is lost: each is
// part of what was seen.
func (u *Run) observe(ctx context.Context) observation {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	var o observation
	var beside sync.WaitGroup
	beside.Go(func() { o.machines, o.machinesErr = u.Provider.Machines(ctx) })
	o.bootstrap = u.seeBootstrap(ctx)
	o.management = u.seeManagement(ctx, o.bootstrap.kubeconfig)
	beside.Wait()
	return o
}

func (u *Run) seeBootstrap(ctx context.Context) bootstrapSide {
	if u.BootstrapKubeconfig == "" {
		if side := u.seeNode(ctx); side.state != "" {
			return side
		}
	} else if side := u.seeOtherBootstrap(ctx); side.state != "" {
		return side
	}
	c, err := u.connectBootstrap(ctx)
	if err == nil {
		return u.readBootstrap(ctx, c)
	}
	if u.BootstrapKubeconfig != "" && fault.CodeOf(err) != fault.Usage {
		err = fault.Wrap(fmt.Errorf("the cluster of --bootstrap-kubeconfig: %w", err), fault.ClusterUnreachable,
			"Check its address and credentials: kubectl --kubeconfig "+u.BootstrapKubeconfig+" get nodes")
	}
	return bootstrapSide{state: bootstrapSilent, err: err}
}

// seeOtherBootstrap refuses a kind cluster of an earlier run beside the cluster of --bootstrap-kubeconfig: each could hold a definition. No
// state means that there is none.
func (u *Run) seeOtherBootstrap(ctx context.Context) bootstrapSide {
	_, err := u.bootstrapNode(ctx)
	switch {
	case err == nil:
		return bootstrapSide{state: bootstrapForeign, err: fault.New(fault.ClusterForeign,
			fmt.Sprintf("an earlier run made the kind cluster %s, and this one is to use another bootstrap cluster", u.BootstrapName()),
			"Leave --bootstrap-kubeconfig out to go on with it, or run cluster-init cleanup "+u.Environment.Name()+" first.")}
	case errors.Is(err, docker.ErrNotFound), fault.CodeOf(err) == fault.ClusterForeign:
		return bootstrapSide{}
	}
	return bootstrapSide{state: bootstrapSilent, err: err}
}

// seeNode looks at the bootstrap cluster's container. No state means that it runs, is ours and is finished.
func (u *Run) seeNode(ctx context.Context) bootstrapSide {
	silent := func(err error) bootstrapSide { return bootstrapSide{state: bootstrapSilent, err: err} }
	node, err := u.bootstrapNode(ctx)
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return bootstrapSide{state: bootstrapAbsent}
	case fault.CodeOf(err) == fault.ClusterForeign:
		return bootstrapSide{state: bootstrapForeign, err: err}
	case err != nil:
		return silent(err)
	case node.Status == "paused":
		return bootstrapSide{state: bootstrapSilent, err: fmt.Errorf("container %s is paused", node.Name),
			cure: "Unpause it: docker unpause " + node.Name + ". Then run the same command again."}
	case node.Status == "created": // it never ran: kind was cut off at its start
		return u.unfinished(node)
	case !node.Running:
		return bootstrapSide{state: bootstrapStopped}
	}
	finished, err := u.Docker.HasFile(ctx, node.Name, owned.FinishedMarker)
	switch {
	case err != nil:
		return silent(fmt.Errorf("look whether kind finished the cluster %s: %w", u.BootstrapName(), err))
	case !finished:
		return u.unfinished(node)
	}
	return bootstrapSide{}
}

// unfinished judges a node that kind did not finish. The lock of the state folder proves that no run with that folder is making it; one
// with another folder may, until it would have given up.
func (u *Run) unfinished(node docker.Container) bootstrapSide {
	id, err := lease.ID(u.StateFolder)
	if err != nil {
		return bootstrapSide{state: bootstrapSilent, err: err}
	}
	if age := u.Now().Sub(node.Created); (id == "" || !node.HasMount(owned.MakerMarker(id))) && age < kind.CreationBound {
		return bootstrapSide{state: bootstrapSilent, err: fault.Retryable(
			fmt.Errorf("kind has not finished it, and another run, of another user or machine, may be making it since %s", node.Created.Local().Format("15:04:05")), fault.Busy, ""),
			cure: "When that run has ended, run the same command again. If there is none: cluster-init cleanup " + u.Environment.Name() + "."}
	}
	return bootstrapSide{state: bootstrapUnfinished}
}

// bootstrapNode returns the bootstrap cluster's container: docker.ErrNotFound when there is no such kind cluster, and an error with the
// code fault.ClusterForeign when it is not ours.
func (u *Run) bootstrapNode(ctx context.Context) (docker.Container, error) {
	exists, err := u.Kind.Exists(ctx, u.BootstrapName())
	if err != nil {
		return docker.Container{}, err
	}
	if !exists {
		return docker.Container{}, docker.ErrNotFound
	}
	name := kind.NodeName(u.BootstrapName())
	node, err := u.Docker.Inspect(ctx, name)
	switch {
	case errors.Is(err, docker.ErrNotFound): // a node of another name has the cluster's
		return node, fmt.Errorf("the kind cluster %s has no node %s", u.BootstrapName(), name)
	case err != nil:
		return node, fmt.Errorf("inspect the node of the kind cluster %s: %w", u.BootstrapName(), err)
	case !node.HasMount(owned.Marker(u.Environment.ClusterName())):
		return node, fault.New(fault.ClusterForeign, fmt.Sprintf("a kind cluster %s exists that cluster-init did not make", u.BootstrapName()),
			"Delete it (kind delete cluster --name "+u.BootstrapName()+"), or give the management cluster another name with --set cluster.name=NAME.")
	}
	node.Name = name
	return node, nil
}

// bootstrapExists says whether there is a bootstrap cluster of ours; one of its name that is not is an error.
func (u *Run) bootstrapExists(ctx context.Context) (bool, error) {
	if u.BootstrapKubeconfig != "" {
		return true, nil
	}
	_, err := u.bootstrapNode(ctx)
	if errors.Is(err, docker.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// readBootstrap asks a bootstrap cluster that answers what it holds.
func (u *Run) readBootstrap(ctx context.Context, c *kube.Cluster) bootstrapSide {
	holds, elsewhere, err := u.hold(ctx, c)
	if err == nil && elsewhere != nil {
		return bootstrapSide{state: bootstrapForeign, err: u.otherNamespace("bootstrap cluster", elsewhere)}
	}
	if own := holds.Cluster(u.Environment.ClusterName()); own != nil && !isOurs(*own) {
		return bootstrapSide{state: bootstrapForeign, err: fault.New(fault.ClusterForeign, fmt.Sprintf("the bootstrap cluster holds %s, which cluster-init did not make", own),
			"Give this one another name with --set cluster.name=NAME.")}
	}
	suspended, suspendedErr := u.suspension(c).Stands(ctx)
	kubeconfig, _, kubeconfigErr := u.managementKubeconfig(ctx, c)
	if err := errors.Join(err, suspendedErr, kubeconfigErr); err != nil {
		return bootstrapSide{state: bootstrapSilent, err: fmt.Errorf("it answers at %s: %w", c.Config.Host, err)}
	}
	return bootstrapSide{state: bootstrapHolding(holds.Cluster(u.Environment.ClusterName()), suspended), cluster: c, holds: holds, kubeconfig: kubeconfig}
}

// hold returns what a cluster holds of ours, and a Cluster of our name in another namespace if it has none in ours.
func (u *Run) hold(ctx context.Context, c *kube.Cluster) (holds pivot.Holding, elsewhere *capi.Cluster, err error) {
	if holds, err = pivot.Hold(ctx, c.Client, u.scope()); err != nil || holds.Cluster(u.Environment.ClusterName()) != nil {
		return holds, nil, err
	}
	all, err := capi.Clusters(ctx, c.Client, "")
	if err != nil {
		return holds, nil, err
	}
	ours := slices.DeleteFunc(all, func(c capi.Cluster) bool { return !isOurs(c) }) // others may have the name
	return holds, pivot.Holding{Clusters: ours}.Cluster(u.Environment.ClusterName()), nil
}

// isOurs says whether `up` had the Cluster made: its own definitions carry the label, and those of a user are applied by the component
// cluster.
func isOurs(c capi.Cluster) bool {
	by := func(what string) string { return c.Labels[kustomizev1.GroupVersion.Group+"/"+what] }
	return c.Labels[owned.ClusterLabel] == c.Name || by("name") == "cluster" && by("namespace") == flux.Namespace
}

func (u *Run) otherNamespace(where string, other *capi.Cluster) error {
	return fault.New(fault.ClusterForeign, fmt.Sprintf("the %s holds %s, and this run is about namespace %s", where, other, u.Environment.ClusterNamespace()),
		"A management cluster cannot change its namespace: add --set cluster.namespace="+other.Namespace+", or give this one another name with --set cluster.name=NAME.")
}
