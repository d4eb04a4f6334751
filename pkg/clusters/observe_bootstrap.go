package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// ObserveBootstrap observes the bootstrap cluster only, through the existing connection. It returns false without one.
func (w *World) ObserveBootstrap(ctx context.Context) (BootstrapSide, bool) {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	if w.bootstrap == nil {
		return BootstrapSide{}, false
	}
	return w.readBootstrap(ctx, w.bootstrap), true
}

func (w *World) seeBootstrap(ctx context.Context) BootstrapSide {
	if w.BootstrapKubeconfig == "" {
		if side := w.seeNode(ctx); side.State != "" {
			return side
		}
	} else if side := w.seeOtherBootstrap(ctx); side.State != "" {
		return side
	}
	c, err := w.connectBootstrap(ctx)
	if err == nil {
		return w.readBootstrap(ctx, c)
	}
	if w.BootstrapKubeconfig != "" && fault.CodeOf(err) != fault.Usage {
		err = fault.Wrap(fmt.Errorf("the cluster of --bootstrap-kubeconfig: %w", err), fault.ClusterUnreachable,
			"Check its address and credentials: kubectl --kubeconfig "+oneline.Shell(w.BootstrapKubeconfig)+
				" get nodes")
	}
	return BootstrapSide{State: BootstrapSilent, Err: err}
}

// seeOtherBootstrap refuses a kind cluster of an earlier run next to the cluster of --bootstrap-kubeconfig, because
// each could hold a definition. An empty state means that there is no such kind cluster.
func (w *World) seeOtherBootstrap(ctx context.Context) BootstrapSide {
	_, err := w.bootstrapNode(ctx)
	switch {
	case err == nil:
		return BootstrapSide{State: BootstrapForeign, Err: fault.New(fault.ClusterForeign,
			fmt.Sprintf("an earlier run made the kind cluster %s, and this run uses another bootstrap cluster",
				w.BootstrapName()),
			"Leave --bootstrap-kubeconfig out to continue with it, or run cluster-init cleanup "+w.Argument+
				" first.")}
	case errors.Is(err, docker.ErrNotFound), fault.CodeOf(err) == fault.ClusterForeign:
		return BootstrapSide{}
	}
	return BootstrapSide{State: BootstrapSilent, Err: err}
}

// seeNode checks the bootstrap cluster's container. An empty state means that it runs, is managed by cluster-init and
// is finished.
func (w *World) seeNode(ctx context.Context) BootstrapSide {
	node, err := w.bootstrapNode(ctx)
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return BootstrapSide{State: BootstrapAbsent}
	case fault.CodeOf(err) == fault.ClusterForeign:
		return BootstrapSide{State: BootstrapForeign, Err: err}
	case fault.CodeOf(err) == fault.Busy: // listed, and not found
		return BootstrapSide{State: BootstrapSilent, Err: err, Remedy: fault.HintOf(err)}
	case err != nil:
		_, notChecked := errors.AsType[unaskedError](err)
		return BootstrapSide{State: BootstrapSilent, NotChecked: notChecked, Err: err}
	}
	state, err := nodeState(ctx, w.Docker, node, w.StateFolder, w.engineTime)
	return w.sideOf(node.Name, state, err)
}

// sideOf returns the side of a managed node in a state. The error is why the state is not known, or of NodeBusy. An
// empty state of the side means that the node runs and is finished.
func (w *World) sideOf(node string, state NodeState, err error) BootstrapSide {
	switch state {
	case NodePaused:
		return BootstrapSide{State: BootstrapSilent, Err: fmt.Errorf("container %s is paused", node),
			Remedy: "Unpause it: docker unpause " + node + ". Then run the same command again."}
	case NodeRemoving:
		return BootstrapSide{State: BootstrapSilent, Err: fmt.Errorf("container %s is being removed", node),
			Remedy: "When it is gone, run the same command again."}
	case NodeStopped:
		return BootstrapSide{State: BootstrapStopped}
	case NodeUnfinished:
		return BootstrapSide{State: BootstrapUnfinished}
	case NodeBusy:
		return BootstrapSide{State: BootstrapSilent, Err: err,
			Remedy: "When that run has ended, run the same command again. If there is none: cluster-init cleanup " +
				w.Argument + "."}
	case NodeRunning:
		return BootstrapSide{}
	}
	return BootstrapSide{State: BootstrapSilent,
		Err: fmt.Errorf("look whether kind finished the cluster %s: %w", w.BootstrapName(), err)}
}

// engineTime returns the time of the engine's clock, as far as it is known.
func (w *World) engineTime(context.Context) (time.Time, error) { return w.Now().Add(w.ahead), nil }

// bootstrapNode returns the bootstrap cluster's container. The error is docker.ErrNotFound if there is no such kind
// cluster, and has the code fault.ClusterForeign if cluster-init does not manage it.
func (w *World) bootstrapNode(ctx context.Context) (docker.Container, error) {
	for range listedLooks {
		node, listed, err := w.lookForNode(ctx)
		if !listed || !errors.Is(err, docker.ErrNotFound) {
			return node, err
		}
		w.pause(ctx)
		if err := ctx.Err(); err != nil {
			return node, fmt.Errorf("look for the node of the kind cluster %s: %w", w.BootstrapName(), err)
		}
	}
	return docker.Container{}, fault.Retryable(
		fmt.Errorf("kind lists the cluster %s, and its node %s is not found: another run may be making or removing it",
			w.BootstrapName(), kind.NodeName(w.BootstrapName())),
		fault.Busy, "Run the same command again when that run has ended. If there is none, a cluster of that name has "+
			"another node, and is not ours: see \"kind get nodes --name "+w.BootstrapName()+
			"\", and give the management cluster another name with --set cluster.name=NAME.")
}

// listedLooks bounds the attempts to find a node that is listed and not found. The engine lists a node that it is about
// to create for another run, or has just removed.
const listedLooks = 4

// unaskedError is the error of an engine that did not list the kind clusters: it is not known whether the cluster
// exists.
type unaskedError struct{ error }

// Unwrap returns why the engine did not list them.
func (e unaskedError) Unwrap() error { return e.error }

// lookForNode checks once. listed reports whether kind lists the cluster.
func (w *World) lookForNode(ctx context.Context) (node docker.Container, listed bool, err error) {
	if w.Docker.NotNeeded { // kind would call the engine
		return docker.Container{}, false, docker.ErrNotFound
	}
	exists, err := w.Kind.Exists(ctx, w.BootstrapName())
	if err != nil {
		return docker.Container{}, false, unaskedError{err}
	}
	if !exists {
		return docker.Container{}, false, docker.ErrNotFound
	}
	name := kind.NodeName(w.BootstrapName())
	node, err = w.Docker.Inspect(ctx, name)
	switch {
	case err != nil:
		return node, true, fmt.Errorf("inspect the node of the kind cluster %s: %w", w.BootstrapName(), err)
	case !node.HasMount(owned.Marker(w.Cluster)):
		return node, true, fault.New(fault.ClusterForeign,
			fmt.Sprintf("a kind cluster %s exists that cluster-init did not make", w.BootstrapName()),
			"Delete it (kind delete cluster --name "+w.BootstrapName()+
				"), or give the management cluster another name with --set cluster.name=NAME.")
	}
	node.Name = name
	return node, true, nil
}

// BootstrapExists reports whether a managed bootstrap cluster exists. An unmanaged one of its name is an error. The
// cluster of --bootstrap-kubeconfig counts as existing.
func (w *World) BootstrapExists(ctx context.Context) (bool, error) {
	if w.BootstrapKubeconfig != "" {
		return true, nil
	}
	_, err := w.bootstrapNode(ctx)
	if errors.Is(err, docker.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// readBootstrap reads what a bootstrap cluster that answers holds.
func (w *World) readBootstrap(ctx context.Context, c *kube.Cluster) BootstrapSide {
	holds, elsewhere, err := w.hold(ctx, c)
	if err == nil && elsewhere != nil {
		return BootstrapSide{State: BootstrapForeign, Err: w.otherNamespace("bootstrap cluster", elsewhere)}
	}
	if own := holds.Cluster(w.Cluster); own != nil && !isOurs(*own) {
		return BootstrapSide{State: BootstrapForeign,
			Err: fault.New(fault.ClusterForeign,
				fmt.Sprintf("the bootstrap cluster holds %s, which cluster-init did not make", own),
				"Give this one another name with --set cluster.name=NAME.")}
	}
	if other, err := w.occupied(ctx, c); err != nil {
		return BootstrapSide{State: BootstrapSilent, Err: fmt.Errorf("it answers at %s: %w", c.Config.Host, err)}
	} else if other != "" {
		return BootstrapSide{State: BootstrapForeign, Err: w.buildsAnother(other)}
	}
	suspended, suspendedErr := Suspension(c, w.Scope).Stands(ctx)
	kubeconfig, _, kubeconfigErr := w.managementKubeconfig(ctx, c)
	down, downErr := w.takenDown(ctx, c, holds)
	if fault.CodeOf(kubeconfigErr) == fault.KubeconfigRefused {
		return BootstrapSide{State: BootstrapForeign, Err: fmt.Errorf("the bootstrap cluster answers at %s: %w",
			c.Config.Host, kubeconfigErr)}
	}
	if err := errors.Join(err, suspendedErr, downErr, kubeconfigErr); err != nil {
		return BootstrapSide{State: BootstrapSilent, Err: fmt.Errorf("it answers at %s: %w", c.Config.Host, err)}
	}
	return BootstrapSide{State: bootstrapHolding(holds.Cluster(w.Cluster), suspended), Cluster: c,
		Holds: holds, Suspended: suspended, TeardownRequested: down, Kubeconfig: kubeconfig}
}

// buildsAnother refuses the user's own bootstrap cluster while it builds another management cluster.
func (w *World) buildsAnother(other string) error {
	return fault.New(fault.ClusterForeign,
		fmt.Sprintf("the cluster of --bootstrap-kubeconfig builds another management cluster, %s: there is one "+
			"release in it, which this run would overwrite", other),
		"Wait until that one was moved into itself, or use another bootstrap cluster. If it is gone for good and "+
			"nothing of it is left in this one: kubectl --kubeconfig "+oneline.Shell(w.BootstrapKubeconfig)+" -n "+
			environment.Namespace+" delete configmap "+environment.ValuesName)
}

// occupied returns the other management cluster that the user's own bootstrap cluster builds; "" means none. A
// management cluster that a pivot has moved out of it does not count.
func (w *World) occupied(ctx context.Context, c *kube.Cluster) (string, error) {
	if w.BootstrapKubeconfig == "" { // a kind cluster's name contains its management cluster's
		return "", nil
	}
	by, pivoted, err := rollout.Occupied(ctx, c)
	if err != nil || by == "" || by == w.Cluster {
		return "", err
	}
	clusters, err := capi.Clusters(ctx, c.Client, "")
	if err != nil || leftBy(by, pivoted, clusters) {
		return "", err
	}
	return by, nil
}

// leftBy reports whether a management cluster was moved out of a bootstrap cluster with these Clusters.
func leftBy(by string, pivoted bool, clusters []capi.Cluster) bool {
	return pivoted && !slices.ContainsFunc(clusters, func(c capi.Cluster) bool { return c.Name == by && isOurs(c) })
}
