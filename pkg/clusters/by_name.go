package clusters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Engine is the part of the Docker engine that is needed to connect to a cluster on it.
type Engine interface {
	Info(context.Context) (docker.Info, error)
	Inspect(context.Context, string) (docker.Container, error)
	HasFile(ctx context.Context, container, path string) (bool, error)
	Exec(ctx context.Context, container string, args []string, o docker.ExecOptions) error
}

// ByName observes the two clusters when only their names are known: without an environment, its provider or kind. It
// reports what each of them answers, and leaves the judgement to the verb. It changes nothing.
type ByName struct {
	Scope
	Engine Engine
	// EngineAddress is the host of the ports that the engine publishes. If it is empty, the engine reports it.
	EngineAddress string
	// StateFolder is where `up` keeps the kubeconfig of the cluster.
	StateFolder string
	// Kubeconfig is a file of the user's own that names the management cluster. If it is empty, there is only the one
	// in the state folder.
	Kubeconfig string
}

// KindCluster is what was observed of the bootstrap cluster in its container.
type KindCluster struct {
	Node  string    // the container
	State NodeState // empty: not known, or what the cluster holds is not known
	Err   error     // why it is not known, or of NodeBusy
	// The fields below are set only for NodeRunning.
	Cluster *kube.Cluster
	// Clusters are the Clusters of all namespaces.
	Clusters []capi.Cluster
	// Suspended reports whether Flux in it is suspended for a pivot of this cluster.
	Suspended bool
}

// Node returns the name of the bootstrap cluster's container.
func (n ByName) Node() string { return kind.NodeName(owned.BootstrapCluster(n.Cluster)) }

// SeeBootstrap observes the bootstrap cluster of a container that exists, and what it holds. A container that is gone
// meanwhile is not absent, but not known: another process is working.
func (n ByName) SeeBootstrap(ctx context.Context) KindCluster {
	found := n.ConnectBootstrap(ctx)
	if found.Cluster == nil {
		return found
	}
	var err, suspendedErr error
	found.Clusters, err = capi.Clusters(ctx, found.Cluster, "")
	found.Suspended, suspendedErr = Suspension(found.Cluster, n.Scope).Stands(ctx)
	if err := errors.Join(err, suspendedErr); err != nil {
		return KindCluster{Node: found.Node, Err: fmt.Errorf("it answers at %s: %w", found.Cluster.Config.Host, err)}
	}
	return found
}

// ConnectBootstrap is SeeBootstrap without what the cluster holds.
func (n ByName) ConnectBootstrap(ctx context.Context) KindCluster {
	found := KindCluster{Node: n.Node()}
	node, err := n.Engine.Inspect(ctx, found.Node)
	switch {
	case err != nil:
		found.Err = err
		return found
	case !node.HasMount(owned.Marker(n.Cluster)):
		found.Err = fmt.Errorf("container %s does not carry the marker %s", found.Node, owned.Marker(n.Cluster))
		return found
	}
	node.Name = found.Node
	found.State, found.Err = nodeState(ctx, n.Engine, node, n.StateFolder, n.engineTime)
	if found.State != NodeRunning {
		return found
	}
	if found.Cluster, found.Err = n.connectNode(ctx, node); found.Err != nil {
		found.State, found.Cluster = "", nil
	}
	return found
}

// engineTime returns the time of the engine's clock, or of this machine if the engine does not report its time.
func (n ByName) engineTime(ctx context.Context) (time.Time, error) {
	info, err := n.Engine.Info(ctx)
	if err == nil && info.Time.IsZero() {
		return time.Now(), nil
	}
	return info.Time, err
}

const (
	// adminKubeconfig is where kubeadm writes the kubeconfig in a node of kind.
	adminKubeconfig = "/etc/kubernetes/admin.conf"
	publishedPort   = apiServerPort + "/tcp" // as the engine names the port of an API server
)

// connectNode connects to the API server in a node of kind, through the port that the engine publishes.
func (n ByName) connectNode(ctx context.Context, node docker.Container) (*kube.Cluster, error) {
	var kubeconfig bytes.Buffer
	if err := n.Engine.Exec(ctx, node.Name, []string{"cat", adminKubeconfig},
		docker.ExecOptions{Stdout: &kubeconfig}); err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the bootstrap cluster: %w", err)
	}
	checked, err := kube.Embedded(kubeconfig.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the bootstrap cluster: %w", err)
	}
	published, err := n.published(ctx, checked, node)
	if err != nil {
		return nil, err
	}
	c, err := Connect(BootstrapName, published)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

// published returns a kubeconfig with the address at which the engine publishes a container's API server.
func (n ByName) published(ctx context.Context, kubeconfig []byte, c docker.Container) ([]byte, error) {
	addresses := c.Ports[publishedPort]
	if len(addresses) == 0 {
		return nil, fmt.Errorf("container %s does not publish its port %s", c.Name, publishedPort)
	}
	engine := n.EngineAddress
	if engine == "" {
		info, err := n.Engine.Info(ctx)
		if err != nil {
			return nil, err
		}
		engine = info.RemoteHost()
	}
	return atPublished(kubeconfig, addresses[0], engine)
}
