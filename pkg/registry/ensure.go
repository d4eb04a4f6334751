package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	// DefaultNetwork is the docker network that kind and CAPD use.
	DefaultNetwork = "kind"
)

// EnsureOptions describes the registry of one environment.
type EnsureOptions struct {
	Cluster string // cluster.name of the environment
	// Serves is the value of owned.ServesLabel, for a cluster of `install`. Empty for one of `up`.
	Serves  string
	Network string // docker network; empty means DefaultNetwork
	Binary  string // static linux binary of cluster-init; empty means this program, or the one installed with it
}

// EnsureRegistry makes sure that the environment's registry runs this binary and answers, and opens the tunnel to it,
// which lives until ctx ends or Close. It can be called at any time: it keeps a container that runs this binary in the
// network, and replaces any other but keeps its volume. It refuses a container or volume of that name without the
// environment's label, with fault ClusterForeign.
func EnsureRegistry(ctx context.Context, d *docker.Client, o EnsureOptions) (*Registry, error) {
	if o.Network == "" {
		o.Network = DefaultNetwork
	}
	name := owned.Registry(o.Cluster)
	if err := CheckOurs(ctx, d, o.Cluster); err != nil {
		return nil, err
	}
	image, err := EnsureImage(ctx, d, o.Binary)
	if err != nil {
		return nil, err
	}
	if err := d.CreateVolume(ctx, name, labelsOf(o)); err != nil {
		return nil, err
	}
	if err := ensureContainer(ctx, d, o, image, startBound); err != nil {
		return nil, err
	}
	r := &Registry{Name: name, Host: Host(o.Cluster), Image: image, tunnel: NewTunnel(ctx, execDial(d, name))}
	if err := r.waitReady(ctx, d, o.Network); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// execDial returns the command of the tunnel's far end, which runs inside the container.
func execDial(d *docker.Client, container string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		return d.ExecCommand(ctx, container, binaryPath, "registry", "dial")
	}
}

// CheckOurs refuses, with fault ClusterForeign, a container or a volume of the registry's name without the
// environment's label. It passes if neither exists.
func CheckOurs(ctx context.Context, d *docker.Client, cluster string) error {
	name := owned.Registry(cluster)
	refuse := func(kind, label string) error {
		return fault.New(fault.ClusterForeign,
			fmt.Sprintf("docker %s %s exists and does not belong to cluster %s (label %s=%q)", kind, name, cluster,
				owned.ClusterLabel, label),
			fmt.Sprintf("Choose another cluster.name, or remove it if it is not needed: docker %s rm %s", kind, name))
	}
	container, err := d.Inspect(ctx, name)
	if err != nil && !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	if err == nil && container.Labels[owned.ClusterLabel] != cluster {
		return refuse("container", container.Labels[owned.ClusterLabel])
	}
	labels, err := d.VolumeLabels(ctx, name)
	if err != nil && !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	if err == nil && labels[owned.ClusterLabel] != cluster {
		return refuse("volume", labels[owned.ClusterLabel])
	}
	return nil
}

// EnsureImage loads the image of the binary into the engine, unless it has it, and returns its reference. An empty
// binary means this program, or the one installed with it. Probes can use the image before the registry's container
// exists.
func EnsureImage(ctx context.Context, d *docker.Client, binary string) (string, error) {
	info, err := d.Info(ctx)
	if err != nil {
		return "", err
	}
	path, err := staticBinary(binary, info.Architecture)
	if err != nil {
		return "", err
	}
	image, err := newBinaryImage(path, info.Architecture)
	if err != nil {
		return "", fmt.Errorf("registry image: %w", err)
	}
	exists, err := d.ImageExists(ctx, image.reference())
	if err != nil || exists {
		return image.reference(), err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(image.writeTo(w)) }()
	err = d.Load(ctx, r)
	r.CloseWithError(io.ErrClosedPipe) // ends the writer if docker did not read everything
	if err != nil {
		return "", fmt.Errorf("registry image %s: %w", image.reference(), err)
	}
	return image.reference(), nil
}

// startBound is how long another run may take to start a container that it created.
const startBound = 30 * time.Second

// ensureContainer keeps a running container with this image and network, and recreates any other. If another run
// creates it at the same moment, it waits for that container, for at most bound.
func ensureContainer(ctx context.Context, d *docker.Client, o EnsureOptions, image string, bound time.Duration) error {
	start, seen := time.Now(), &neverStarted{bound: bound}
	for begun := start; ; begun = time.Now() {
		err := attemptContainer(ctx, d, o, image, seen, begun)
		if !errors.Is(err, errBeingMade) || begun.Sub(start) >= bound {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// errBeingMade reports that another run is creating the container right now.
var errBeingMade = fault.Retryable(errors.New("another run is creating the registry's container"),
	fault.Busy, "Wait for that run to end, then run the same command again.")

// neverStarted is a container that this run sees in state created, and since when.
type neverStarted struct {
	id    string
	since time.Time
	bound time.Duration // after which it no longer is another run's
}

// isAbandoned reports whether no run starts the container any more. Without the engine's time or the container's, only
// the time counts for which this run has seen it.
func (s *neverStarted) isAbandoned(found docker.Container, engine, now time.Time) bool {
	if s.id != found.ID {
		s.id, s.since = found.ID, now
	}
	age := now.Sub(s.since)
	if !engine.IsZero() && !found.Created.IsZero() {
		age = max(age, engine.Sub(found.Created))
	}
	return age >= s.bound
}

func attemptContainer(ctx context.Context, d *docker.Client, o EnsureOptions, image string, seen *neverStarted,
	begun time.Time) error {
	name := owned.Registry(o.Cluster)
	found, err := d.Inspect(ctx, name)
	switch {
	case errors.Is(err, docker.ErrNotFound):
	case err != nil:
		return err
	case found.Labels[owned.ServesLabel] != o.Serves:
		return servesOther(name, o.Cluster, found.Labels[owned.ServesLabel])
	case found.Status == "created":
		engine, err := d.Info(ctx) // whose clock dates its containers
		if err != nil {
			return err
		}
		if !seen.isAbandoned(found, engine.Time, begun) {
			return errBeingMade
		}
		if err := d.Remove(ctx, found.ID); err != nil {
			return err
		}
	default:
		_, attached := found.Networks[o.Network]
		if found.Image == image && attached && found.Running {
			return nil
		}
		if err := d.Remove(ctx,
			found.ID); err != nil { // by its ID: another run may create one of that name at the same time
			return err
		}
		if found.Image != image && strings.HasPrefix(found.Image, owned.RegistryRepository+":") {
			_ = d.RemoveImage(ctx, found.Image) // the engine refuses while another environment still runs it
		}
	}
	if err := d.CreateKindNetwork(ctx, o.Network, map[string]string{owned.CreatedLabel: "true"}); err != nil {
		return err
	}
	_, err = d.Run(ctx, docker.RunOptions{
		Name: name, Image: image, Args: []string{"registry", "serve"},
		Labels:  labelsOf(o),
		Network: o.Network, Restart: "unless-stopped", Hardened: true,
		Mounts: []docker.Mount{
			{Type: "volume", Source: name, Target: dataDir},
			{Type: "tmpfs", Target: socketDir},
		},
	})
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "is already in use by container"):
		return errBeingMade
	case strings.Contains(err.Error(), "is ambiguous"):
		// another run created a second network of that name, and removes one of them
		return errors.Join(errBeingMade, removeNeverStarted(ctx, d, name))
	}
	return err
}

func labelsOf(o EnsureOptions) map[string]string {
	labels := map[string]string{owned.ClusterLabel: o.Cluster}
	if o.Serves != "" {
		labels[owned.ServesLabel] = o.Serves
	}
	return labels
}

// servesOther refuses a registry that another cluster of the same name reads from.
func servesOther(name, cluster, serves string) error {
	by := "that cluster-init up built"
	if serves != "" {
		by = "of cluster-init install (its namespace kube-system has the UID " + serves + ")"
	}
	return fault.New(fault.ClusterForeign, fmt.Sprintf("the registry %s is for another cluster named %s, %s", name,
		cluster, by), "Give this cluster another name: --set cluster.name=NAME. If the other one does not exist any "+
		"more, delete what is left of it: cluster-init cleanup --cluster NAMESPACE/"+cluster+" --force "+cluster+".")
}

// removeNeverStarted removes a container that could not be started.
func removeNeverStarted(ctx context.Context, d *docker.Client, name string) error {
	found, err := d.Inspect(ctx, name)
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return nil
	case err != nil:
		return err
	case found.Status != "created":
		return nil
	}
	return d.Remove(ctx, found.ID)
}
