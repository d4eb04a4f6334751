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

// New returns a Provider that hands kind's own messages to log, line by line.
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

// asked returns the answer to a question of kind's. kind takes no context, and an engine that takes a connection and
// says nothing would be waited for without end: then the question, which changes nothing, is left to itself.
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

// Create creates the cluster and waits until its node is ready, at most wait. kind takes no context: when ctx ends,
// Create takes its node away, at which kind gives up, and returns when kind has: no half cluster is left, and nothing
// goes on behind the caller's back.
//
// own says whether the node of that name is the one that this call made. Only that one is deleted when the creation
// fails or ends: kind itself would delete any of the name, also the one that another run makes at the same moment. nil:
// nobody else makes one.
func (p *Provider) Create(ctx context.Context, c Config, wait time.Duration,
	own func(context.Context) (bool, error)) error {
	scratch, err := os.MkdirTemp("", "cluster-init-kind-")
	if err != nil {
		return fmt.Errorf("making a folder for kind's kubeconfig: %w", err)
	}
	defer os.RemoveAll(scratch)
	kubeconfig := filepath.Join(scratch, "kubeconfig") // never the user's own
	restore, err := c.Proxies.inForce()
	if err != nil {
		return fmt.Errorf("give the proxies to the kind cluster %s: %w", c.Name, err)
	}
	defer restore()
	err = owned(ctx, func() error {
		remove := func() error { return p.deleteOwn(ctx, c.Name, kubeconfig, own) }
		defer deleteAtEnd(ctx, remove)()
		err := p.kind.Create(c.Name,
			cluster.CreateWithRetain(true),
			cluster.CreateWithV1Alpha4Config(c.cluster()),
			cluster.CreateWithKubeconfigPath(kubeconfig),
			cluster.CreateWithWaitForReady(wait),
			cluster.CreateWithDisplayUsage(false),
			cluster.CreateWithDisplaySalutation(false))
		if err != nil {
			err = errors.Join(err, remove())
		}
		return err
	})
	if ctx.Err() != nil { // then kind failed because its node was taken away: its words would mislead
		return fmt.Errorf("creating the kind cluster %s: %w", c.Name, ctx.Err())
	}
	if err != nil {
		return explain(fmt.Errorf("creating the kind cluster %s: %w", c.Name, err))
	}
	return nil
}

// ownBound is for the question whose a node is.
const ownBound = 10 * time.Second

// deleteOwn deletes the node of a cluster if it is the one that this run made. One that nobody can tell of stays.
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

// deleteAtEnd removes the node of a cluster that is being made, as often as it appears, from when ctx ends until the
// function that it returns is called; that one waits until the last removal is over.
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
			_ = remove() // it is tried once more when kind has failed, and that error counts
			select {
			case <-created:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(created); <-over }
}

// Delete deletes all nodes of the kind cluster called name; it is no error when there are none.
func (p *Provider) Delete(ctx context.Context, name string) error {
	scratch, err := os.MkdirTemp("", "cluster-init-kind-")
	if err != nil {
		return fmt.Errorf("making a folder for kind's kubeconfig: %w", err)
	}
	defer os.RemoveAll(scratch)
	err = owned(ctx, func() error { return p.kind.Delete(name, filepath.Join(scratch, "kubeconfig")) })
	if err != nil {
		return explain(fmt.Errorf("deleting the kind cluster %s: %w", name, err))
	}
	return nil
}

// Kubeconfig returns the admin kubeconfig of the kind cluster called name, for use from this machine. It is read in the
// node, and must be one that kube.Embedded lets pass.
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

// owned runs work, which cannot be interrupted, unless ctx has ended; a context that ends meanwhile is reported even
// when the work went well.
func owned(ctx context.Context, work func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(work(), ctx.Err())
}

// explain adds the output of the command that kind ran and that failed, which kind keeps apart from the message.
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
		return fault.Retryable(err, fault.Busy, "Another run makes a cluster of this name at the same moment. When it "+
			"is over, run the same command again.")
	case says("port is already allocated", "address already in use"):
		return fault.Wrap(err, fault.PortTaken,
			"Stop what listens on that port, or choose another with --api-server-port (0 takes a free one).")
	case says("privileged mode is incompatible", "privileged mode is disabled", "unable to apply caps"):
		return fault.Wrap(err, fault.DockerPrivileged, "kind's nodes are privileged containers: use an engine that "+
			"allows them (no rootless sandbox, no user namespace remapping).")
	case says("executable file not found", "cannot connect to the docker daemon", "failed to connect to the docker api",
		"error during connect"):
		return fault.Wrap(err, fault.DockerUnreachable,
			"Start the Docker engine, or point DOCKER_HOST at one that runs; `docker info` must answer.")
	case says("command \"docker pull "):
		return fault.Retryable(err, fault.ClusterFailed, "The engine could not pull the node image: `docker pull` of "+
			"it shows why. Without access to its registry, use --bundle, or --node-image with an image that the "+
			"engine has.")
	}
	return fault.Retryable(err, fault.ClusterFailed, "See what the node says: docker logs NODE. Running the same "+
		"command again starts over with a fresh node.")
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
