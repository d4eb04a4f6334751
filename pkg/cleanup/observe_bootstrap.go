package cleanup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	// adminKubeconfig is where kubeadm writes it in a node of kind.
	adminKubeconfig = "/etc/kubernetes/admin.conf"
	apiServerPort   = "6443/tcp"
)

// seeBootstrap looks at the bootstrap cluster whose node the plan has found, by its marker.
func (o Observer) seeBootstrap(ctx context.Context, plan Plan) bootstrapSide {
	node := kind.NodeName(owned.BootstrapCluster(o.Target.Cluster))
	silent := func(err error) bootstrapSide { return bootstrapSide{state: bootstrapSilent, node: node, err: err} }
	if !slices.ContainsFunc(plan.Delete, func(i Item) bool { return i.Kind == BootstrapNode }) {
		return bootstrapSide{state: bootstrapAbsent}
	}
	c, err := o.Engine.Inspect(ctx, node)
	switch {
	case err != nil: // gone meanwhile, too: somebody else is at work
		return silent(err)
	case !c.HasMount(owned.Marker(o.Target.Cluster)):
		return silent(fmt.Errorf("container %s does not carry the marker %s", node, owned.Marker(o.Target.Cluster)))
	case c.Status == "paused":
		return bootstrapSide{state: bootstrapFrozen, node: node}
	case c.Status == "created": // it never ran: kind was cut off at its start
		return bootstrapSide{state: bootstrapAbsent}
	case !c.Running:
		return bootstrapSide{state: bootstrapStopped, node: node}
	}
	finished, err := o.Engine.HasFile(ctx, node, owned.FinishedMarker)
	if err != nil {
		return silent(err)
	}
	if !finished {
		return bootstrapSide{state: bootstrapAbsent}
	}
	cluster, err := o.connectBootstrap(ctx, node, c)
	if err != nil {
		return silent(err)
	}
	side, err := o.readBootstrap(ctx, cluster)
	if err != nil {
		return silent(fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err))
	}
	side.node = node
	return side
}

// connectBootstrap connects to the API server in a node of kind, through the port that the engine publishes.
func (o Observer) connectBootstrap(ctx context.Context, node string, c docker.Container) (*kube.Cluster, error) {
	var kubeconfig bytes.Buffer
	if err := o.Engine.Exec(ctx, node, []string{"cat", adminKubeconfig}, docker.ExecOptions{Stdout: &kubeconfig}); err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the bootstrap cluster: %w", err)
	}
	published, err := o.published(ctx, kubeconfig.Bytes(), c)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := flux.AddToScheme(scheme); err != nil {
		return nil, err
	}
	cluster, err := kube.Connect("bootstrap", published, scheme)
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

// readBootstrap asks a bootstrap cluster that answers what it holds.
func (o Observer) readBootstrap(ctx context.Context, c *kube.Cluster) (bootstrapSide, error) {
	clusters, err := capi.Clusters(ctx, c, "")
	suspended, suspendedErr := flux.SuspendedWith(ctx, c, owned.SuspendedAnnotation, owned.SuspendedFor(o.Target.Namespace, o.Target.Cluster))
	if err := errors.Join(err, suspendedErr); err != nil {
		return bootstrapSide{}, err
	}
	switch err := o.checkLease(ctx, c); {
	case fault.CodeOf(err) == fault.Busy:
		return bootstrapSide{state: bootstrapBusy, err: err}, nil
	case err != nil:
		return bootstrapSide{}, err
	}
	side := bootstrapSide{state: bootstrapEmpty}
	if suspended {
		side.state = bootstrapMoved
	}
	for _, c := range clusters {
		switch {
		case c.Namespace != o.Target.Namespace || c.Name != o.Target.Cluster:
			side.others = append(side.others, c.String())
		case c.Paused:
			side.state = bootstrapPaused
		default:
			side.state = bootstrapActive
		}
	}
	return side, nil
}

// checkLease looks whether a run with another state folder works on the bootstrap cluster. One with this folder has its lock.
func (o Observer) checkLease(ctx context.Context, c *kube.Cluster) error {
	id, err := lease.ID(o.StateFolder)
	if err != nil {
		return err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return err
	}
	return lease.CheckFree(ctx, lease.Request{Config: c.Config, Where: "the bootstrap cluster", Name: lease.Name(o.Target.Namespace, o.Target.Cluster),
		Holder: holder, Timing: lease.DefaultTiming()})
}
