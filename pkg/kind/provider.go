package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Provider creates, finds and deletes kind clusters on the Docker engine that the environment names.
type Provider struct {
	kind *cluster.Provider
}

// New returns a Provider that passes kind's own messages to log, line by line.
func New(log func(string)) *Provider {
	return &Provider{kind: cluster.NewProvider(cluster.ProviderWithDocker(), cluster.ProviderWithLogger(logger{log}))}
}

// NodeName returns the name of the one node of the kind cluster called name.
func NodeName(name string) string { return name + "-control-plane" }

// Exists reports whether any node of the kind cluster called name exists, healthy or not.
func (p *Provider) Exists(ctx context.Context, name string) (bool, error) {
	names, err := asked(ctx, p.kind.List)
	if err != nil {
		return false, explain(fmt.Errorf("listing kind clusters: %w", err))
	}
	return slices.Contains(names, name), nil
}

// asked returns the result of a read-only call of kind. kind takes no context, and an engine that accepts a connection
// without answering would block for ever: asked then abandons the call.
func asked[T any](ctx context.Context, question func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := question()
		answered <- answer{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("the Docker engine did not answer: %w", context.Cause(ctx))
	case a := <-answered:
		return a.value, errors.Join(a.err, ctx.Err())
	}
}

// Create creates the cluster and waits until its node is ready. A node that is not ready after wait is no error. kind
// takes no context: when ctx ends, Create deletes its node, at which kind gives up, and returns when kind has returned.
// Nothing keeps running in the background, and a half cluster is left only if its deletion fails.
//
// own reports whether the node of that name is the one that this call made. Only that one is deleted when the creation
// fails or ends: kind itself would delete any node of the name, also one that another run is creating. Nil means that
// there is no other run.
func (p *Provider) Create(ctx context.Context, c Config, wait time.Duration,
	own func(context.Context) (bool, error)) error {
	scratch, err := os.MkdirTemp("", "cluster-init-kind-")
	if err != nil {
		return fmt.Errorf("create a folder for kind's kubeconfig: %w", err)
	}
	defer os.RemoveAll(scratch)
	kubeconfig := filepath.Join(scratch, "kubeconfig") // never the user's own
	restore, err := c.Proxies.inForce()
	if err != nil {
		return fmt.Errorf("give the proxies to the kind cluster %s: %w", c.Name, err)
	}
	defer restore()
	var left error // why a node may be left
	err = owned(ctx, func() error {
		remove := func() error { return p.deleteOwn(ctx, c.Name, kubeconfig, own) }
		stop := deleteAtEnd(ctx, remove)
		err := p.kind.Create(c.Name,
			cluster.CreateWithRetain(true),
			cluster.CreateWithV1Alpha4Config(c.cluster()),
			cluster.CreateWithKubeconfigPath(kubeconfig),
			cluster.CreateWithWaitForReady(wait),
			cluster.CreateWithDisplayUsage(false),
			cluster.CreateWithDisplaySalutation(false))
		stop()
		if err != nil || ctx.Err() != nil {
			left = remove()
		}
		return err
	})
	switch {
	case ctx.Err() != nil && left != nil:
		return explain(fmt.Errorf("creating the kind cluster %s: %w; its node %s may be left: %w", c.Name, ctx.Err(),
			NodeName(c.Name), left))
	case ctx.Err() != nil: // kind failed because its node was deleted: its message would mislead
		return fmt.Errorf("creating the kind cluster %s: %w", c.Name, ctx.Err())
	case err != nil:
		return explain(fmt.Errorf("creating the kind cluster %s: %w", c.Name, errors.Join(err, left)))
	}
	return nil
}

// ownBound bounds the check of who made a node.
const ownBound = 10 * time.Second

// deleteOwn deletes the node of a cluster if this run made it. It leaves alone a node of unknown origin.
func (p *Provider) deleteOwn(ctx context.Context, name, kubeconfig string,
	own func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ownBound)
	defer cancel()
	if own != nil {
		if made, err := own(ctx); err != nil || !made {
			return err
		}
	}
	return p.kind.Delete(name, kubeconfig)
}

// deleteAtEnd deletes the node of a cluster that is being created, as often as it appears, from when ctx ends until the
// returned function is called. That function waits for the last deletion.
func deleteAtEnd(ctx context.Context, remove func() error) (stop func()) {
	created, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-created:
			return
		case <-ctx.Done():
		}
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			_ = remove() // Create tries once more after kind has failed
			select {
			case <-created:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(created); <-over }
}

// Delete deletes all nodes of the kind cluster called name. It is no error if there are none. If the
// deletion fails, Delete repeats it once: an engine under load may report that a killed container has not ended.
func (p *Provider) Delete(ctx context.Context, name string) error {
	scratch, err := os.MkdirTemp("", "cluster-init-kind-")
	if err != nil {
		return fmt.Errorf("create a folder for kind's kubeconfig: %w", err)
	}
	defer os.RemoveAll(scratch)
	remove := func() error { return p.kind.Delete(name, filepath.Join(scratch, "kubeconfig")) }
	if err = owned(ctx, remove); err != nil && ctx.Err() == nil {
		err = owned(ctx, remove)
	}
	if err != nil {
		return explain(fmt.Errorf("deleting the kind cluster %s: %w", name, err))
	}
	return nil
}

// Kubeconfig returns the admin kubeconfig of the kind cluster called name, for use from this machine. It is read from
// the node, and kube.Embedded must accept it.
func (p *Provider) Kubeconfig(ctx context.Context, name string) ([]byte, error) {
	kubeconfig, err := asked(ctx, func() (string, error) { return p.kind.KubeConfig(name, false) })
	if err != nil {
		return nil, explain(fmt.Errorf("reading the kubeconfig of the kind cluster %s: %w", name, err))
	}
	checked, err := kube.Embedded([]byte(kubeconfig))
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the kind cluster %s: %w", name, err)
	}
	return checked, nil
}

// owned runs work, which cannot be interrupted, unless ctx has ended. If ctx ends in the meantime, that is an error
// even if the work succeeded.
func owned(ctx context.Context, work func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(work(), ctx.Err())
}

// explain makes err a fault, and adds the output of kind's failed command, which kind does not put into the message.
func explain(err error) error {
	if run, ok := errors.AsType[*exec.RunError](err); ok && len(run.Output) > 0 {
		err = fmt.Errorf("%w: %s", err, lastLines(string(run.Output), 5))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := strings.ToLower(err.Error())
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case says("is already in use by container"):
		return fault.Retryable(err, fault.Busy, "Another run is creating a cluster of this name. Wait until it "+
			"has ended, then run the same command again.")
	case says("port is already allocated", "address already in use"):
		return fault.Wrap(err, fault.PortTaken,
			"Stop the process that listens on that port, or choose another with --api-server-port (0: any free port).")
	case says("privileged mode is incompatible", "privileged mode is disabled", "unable to apply caps"):
		return fault.Wrap(err, fault.DockerPrivileged, "kind's nodes are privileged containers: use an engine that "+
			"allows them (no rootless sandbox, no user namespace remapping).")
	case says("executable file not found", "cannot connect to the docker daemon", "failed to connect to the docker api",
		"error during connect"):
		return fault.Wrap(err, fault.DockerUnreachable,
			"Start the Docker engine, or set DOCKER_HOST to a running one, until `docker info` answers.")
	case says("command \"docker pull "):
		return fault.Retryable(err, fault.ClusterFailed, "The engine could not pull the node image: `docker pull` of "+
			"it shows why. Without access to its registry, use --bundle, or --node-image with an image that the "+
			"engine has.")
	}
	return fault.Retryable(err, fault.ClusterFailed, "Check the node's log: docker logs NODE. Then run the same "+
		"command again: it starts over with a new node.")
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
