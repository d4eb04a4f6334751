package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// What a management cluster of one machine and its bootstrap cluster need together, with some reserve.
const (
	minimumMemory           = 6 << 30
	minimumDisk             = 10 << 30
	minimumInotifyWatches   = 65536
	minimumInotifyInstances = 256
)

// Preflight checks for what would make the run fail later, before anything is created. It reports all problems at once.
type Preflight struct {
	Wanted
	World    Engineer
	Provider provider.Provider // nil: no machines will be made

	host host // for tests; the zero value is this machine
}

// Engineer is what preflight must know of the Docker engine and the bootstrap cluster on it.
type Engineer interface {
	AskEngine(context.Context) (docker.Info, error)
	ReachedAt() string
	BootstrapExists(context.Context) (bool, error)
}

// Title is the name of the phase.
func (p Preflight) Title() string {
	if p.Provider == nil || p.Provider.ReachesEngine() {
		return "check this machine"
	}
	return "check this machine and the cloud"
}

// Run runs the checks.
func (p Preflight) Run(ctx context.Context, report pipeline.Reporter) error {
	warnings, err := p.Environment.Warnings()
	for _, warning := range slices.Concat(p.Source.Warnings(), warnings) {
		report.Warn("%s", warning)
	}
	problems := []error{err, p.machine(ctx, report)}
	if p.Provider != nil {
		problems = append(problems, p.Environment.CheckKubernetesVersion(), p.Provider.Preflight(ctx, report))
	}
	return errors.Join(append(problems, p.fetchable(ctx, report))...)
}

// machine returns the problems of the engine, and of this machine if the engine runs here.
func (p Preflight) machine(ctx context.Context, report pipeline.Reporter) error {
	if p.Engine != nil && p.Engine.NotNeeded {
		report.Progress("no Docker engine is needed: bootstrap cluster, source and machines are not on this machine")
		return nil
	}
	info, err := p.World.AskEngine(ctx)
	if err != nil {
		return err
	}
	describe(info, report)
	exists, err := p.World.BootstrapExists(ctx)
	if address := p.World.ReachedAt(); address != "" {
		report.Progress("the engine is on another machine: its published ports are reached at %s", address)
	}
	port := p.APIServerPort
	if exists || err != nil { // then that cluster probably listens on the port
		port = 0
	}
	if p.host.listen == nil {
		p.host = thisMachine()
	}
	machines := info.Rootless && p.Provider != nil && p.Provider.ReachesEngine()
	return errors.Join(err, suits(info, machines, report), p.host.problems(info, port))
}

// suits refuses an engine on which nodes cannot start. machines reports whether Cluster API makes machines on it, too.
func suits(engine docker.Info, machines bool, report pipeline.Reporter) error {
	switch {
	case engine.OSType != "" && engine.OSType != "linux":
		return fault.New(fault.DockerFailed,
			fmt.Sprintf("the Docker engine runs %s containers, but nodes of Kubernetes are Linux containers",
				engine.OSType),
			"Switch the engine to Linux containers, or use another one (DOCKER_HOST).")
	case engine.Rootless && machines:
		return fault.New(fault.DockerFailed, "the Docker engine is rootless: the kubelet does not start in machines "+
			"that Cluster API's provider for Docker makes there",
			"Use an engine that runs as root (DOCKER_HOST, or docker context use).")
	case engine.Rootless:
		report.Warn("the Docker engine is rootless: kind needs cgroup v2 with the controllers cpu, memory and pids " +
			"delegated to this user")
	}
	return nil
}

// CheckMachine checks the engine and its machine alone, when it is not known yet what will run there.
func CheckMachine(ctx context.Context, engine *docker.Client, report pipeline.Reporter) error {
	info, err := engine.Info(ctx)
	if err != nil {
		return err
	}
	describe(info, report)
	return errors.Join(suits(info, false, report), thisMachine().problems(info, 0))
}

func describe(engine docker.Info, report pipeline.Reporter) {
	report.Progress("Docker %s, cgroup v%s, %d CPUs, %.1f GiB of memory", engine.ServerVersion, engine.CgroupVersion,
		engine.CPUs, gibibytes(engine.MemoryBytes))
}

// problems returns all problems of the engine, and of this machine if the engine runs here. Port 0 is not checked.
func (h host) problems(engine docker.Info, port int32) error {
	errs := []error{enough("memory of the Docker host", engine.MemoryBytes, minimumMemory)}
	if !engine.Local() { // then this machine's resources are not the engine's
		return errors.Join(errs...)
	}
	if h.name == engine.Name { // not that of another machine whose socket is mounted or forwarded here
		if free, known := h.freeBytes(engine.RootDir); known {
			errs = append(errs, enough("disk space in "+engine.RootDir, free, minimumDisk))
		}
		errs = append(errs, h.inotify("max_user_watches", minimumInotifyWatches),
			h.inotify("max_user_instances", minimumInotifyInstances))
	}
	if port != 0 {
		if err := h.listen(port); err != nil {
			errs = append(errs, fault.Wrap(fmt.Errorf("the bootstrap cluster's API server cannot have port %d: %w",
				port, err), fault.PortTaken,
				"Stop the process that listens on it, or choose another port with --api-server-port (0: any free port)."))
		}
	}
	return errors.Join(errs...)
}

func enough(what string, have, need int64) error {
	if have >= need {
		return nil
	}
	return fault.New(fault.HostResources, fmt.Sprintf("too little %s: %.1f GiB, at least %.1f GiB are needed", what,
		gibibytes(have), gibibytes(need)),
		"Give the Docker engine more memory or disk, or use another one (DOCKER_HOST).")
}

func gibibytes(n int64) float64 { return float64(n) / (1 << 30) }

// inotify checks a limit that the kubelet and systemd exhaust first when there are several nodes.
func (h host) inotify(limit string, need int) error {
	have, known := h.inotifyLimit(limit)
	if !known || have >= need {
		return nil
	}
	return fault.New(fault.HostResources, fmt.Sprintf("fs.inotify.%s is %d, at least %d are needed", limit, have, need),
		fmt.Sprintf("Raise it: sysctl -w fs.inotify.%s=%d", limit, need*8))
}

// fetchable fetches what the run will need from release URLs, so that a file that cannot be read, or that the bundle
// does not contain, is reported before anything is created. The fetcher keeps what it got. fetchable warns of files
// without a pinned digest. With RequirePinned it refuses them.
func (p Preflight) fetchable(ctx context.Context, report pipeline.Reporter) error {
	urls := []string{flux.ManifestsURL}
	var errs []error
	if p.Source.Kind == source.Embedded {
		remote, err := p.released(ctx)
		urls, errs = append(urls, remote...), append(errs, err)
	}
	unpinned := p.Manifests.Unpinned(urls)
	if p.RequirePinned && len(unpinned) > 0 {
		return errors.Join(append(errs, NotPinned(unpinned))...)
	}
	if len(unpinned) > 0 {
		report.Warn("%d of %d release files are not pinned by a digest, so a change would not be detected: %s",
			len(unpinned), len(urls), strings.Join(unpinned, ", "))
	}
	_, lacks := content.FetchAll(ctx, p.Manifests, urls)
	if errors.Is(ctx.Err(), context.Canceled) { // the run was interrupted: missing files prove nothing
		return fmt.Errorf("fetch the release files: %w", context.Cause(ctx))
	}
	for _, url := range urls {
		errs = append(errs, lacks[url])
		delete(lacks, url) // two components may use the same
	}
	return errors.Join(errs...)
}

// released returns the URLs that the components name.
func (p Preflight) released(ctx context.Context) ([]string, error) {
	paths, err := p.Environment.ComponentPaths()
	if err != nil {
		return nil, err
	}
	return content.PublishOptions{FS: p.Content, Profile: p.Profile, Paths: paths}.ReleaseFiles(ctx)
}

// NotPinned refuses release files without a pinned digest.
func NotPinned(urls []string) error {
	return fault.New(fault.SourceUnreadable,
		fmt.Sprintf("%d release files are not pinned by a digest: %s", len(urls), strings.Join(urls, ", ")),
		"Pin them with `make sums`, use an offline bundle with --bundle, or leave out --require-pinned.")
}
