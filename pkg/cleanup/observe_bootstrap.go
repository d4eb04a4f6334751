package cleanup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	// adminKubeconfig is where kubeadm writes the kubeconfig in a node of kind.
	adminKubeconfig = "/etc/kubernetes/admin.conf"
	apiServerPort   = "6443/tcp"
)

// seeBootstrap observes the bootstrap cluster if the plan found its node by the marker.
func (o Observer) seeBootstrap(ctx context.Context, plan Plan) bootstrapSide {
	side, cluster := o.reachBootstrap(ctx, plan)
	if cluster == nil {
		return side
	}
	read, err := o.readBootstrap(ctx, cluster)
	if err != nil {
		return bootstrapSide{state: bootstrapSilent, node: side.node,
			err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	read.node = side.node
	return read
}

// reachBootstrap connects to the bootstrap cluster. If that is not possible, it returns nil, and the side has
// everything that is known.
func (o Observer) reachBootstrap(ctx context.Context, plan Plan) (bootstrapSide, *kube.Cluster) {
	node := kind.NodeName(owned.BootstrapCluster(o.Target.Cluster))
	only := func(state bootstrapState, err error) (bootstrapSide, *kube.Cluster) {
		return bootstrapSide{state: state, node: node, err: err}, nil
	}
	if !slices.ContainsFunc(plan.Delete, func(i Item) bool { return i.Kind == BootstrapNode }) {
		return only(bootstrapAbsent, nil)
	}
	c, err := o.Engine.Inspect(ctx, node)
	switch {
	case err != nil: // also if it was removed meanwhile: another process is working
		return only(bootstrapSilent, err)
	case !c.HasMount(owned.Marker(o.Target.Cluster)):
		return only(bootstrapSilent, fmt.Errorf("container %s does not carry the marker %s", node,
			owned.Marker(o.Target.Cluster)))
	case c.Status == "removing":
		return only(bootstrapBusy, fault.Retryable(fmt.Errorf("container %s is being removed", node), fault.Busy, ""))
	case c.Status == "paused":
		return only(bootstrapFrozen, nil)
	case c.Status == "created": // it never ran: kind was interrupted at its start, or is about to start it
		return only(o.unfinished(ctx, c))
	case !c.Running:
		return only(bootstrapStopped, nil)
	}
	finished, err := o.Engine.HasFile(ctx, node, owned.FinishedMarker)
	if err != nil {
		return only(bootstrapSilent, err)
	}
	if !finished {
		return only(o.unfinished(ctx, c))
	}
	cluster, err := o.connectBootstrap(ctx, node, c)
	if err != nil {
		return only(bootstrapSilent, err)
	}
	return bootstrapSide{node: node}, cluster
}

// unfinished judges a node that kind did not finish: a run with another state folder may be creating it.
func (o Observer) unfinished(ctx context.Context, c docker.Container) (bootstrapState, error) {
	engine, err := o.Engine.Info(ctx)
	if err != nil {
		return bootstrapSilent, fmt.Errorf("read the clock of the Docker engine: %w", err)
	}
	now := engine.Time
	if now.IsZero() { // the engine does not report its time
		now = time.Now()
	}
	switch busy, err := clusters.BeingMade(c, o.StateFolder, now); {
	case err != nil:
		return bootstrapSilent, err
	case busy != nil:
		return bootstrapBusy, busy
	}
	return bootstrapAbsent, nil // it never held anything
}

// connectBootstrap connects to the API server in a node of kind, through the port that the engine publishes.
func (o Observer) connectBootstrap(ctx context.Context, node string, c docker.Container) (*kube.Cluster, error) {
	var kubeconfig bytes.Buffer
	if err := o.Engine.Exec(ctx, node, []string{"cat", adminKubeconfig},
		docker.ExecOptions{Stdout: &kubeconfig}); err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the bootstrap cluster: %w", err)
	}
	checked, err := kube.Embedded(kubeconfig.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the bootstrap cluster: %w", err)
	}
	published, err := o.published(ctx, checked, c)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := flux.AddToScheme(scheme); err != nil {
		return nil, err
	}
	cluster, err := kube.Connect(bootstrapName, published, scheme)
	if err != nil {
		return nil, err
	}
	return cluster, cluster.Reachable(ctx)
}

// published returns a kubeconfig with the address at which the engine publishes a container's API server.
func (o Observer) published(ctx context.Context, kubeconfig []byte, c docker.Container) ([]byte, error) {
	addresses := c.Ports[apiServerPort]
	if len(addresses) == 0 {
		return nil, fmt.Errorf("container %s does not publish its port %s", c.Name, apiServerPort)
	}
	engine, err := o.engineAddress(ctx)
	if err != nil {
		return nil, err
	}
	host, port, err := docker.ReachedAt(addresses[0], engine)
	if err != nil {
		return nil, err
	}
	return kube.WithServer(kubeconfig, host, port)
}

// readBootstrap reads what a bootstrap cluster that answers holds.
func (o Observer) readBootstrap(ctx context.Context, c *kube.Cluster) (bootstrapSide, error) {
	all, err := capi.Clusters(ctx, c, "")
	suspended, suspendedErr := flux.SuspendedWith(ctx, c, owned.SuspendedAnnotation,
		owned.SuspendedFor(o.Target.Namespace, o.Target.Cluster))
	if err := errors.Join(err, suspendedErr); err != nil {
		return bootstrapSide{}, err
	}
	side := bootstrapSide{state: bootstrapEmpty}
	if suspended {
		side.state = bootstrapMoved
	}
	for _, c := range all {
		switch {
		case c.Namespace != o.Target.Namespace || c.Name != o.Target.Cluster:
			side.others = append(side.others, c.String())
			continue
		case c.Paused:
			side.state = bootstrapPaused
		default:
			side.state = bootstrapActive
		}
		side.rolledBack = owned.ManagedItself(c.Annotations) && !c.Deleting // what is being deleted is lost already
	}
	return side, nil
}
