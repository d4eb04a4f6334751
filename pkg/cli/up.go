package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// upOptions are the flags of `up`.
type upOptions struct {
	environmentOptions
	sourceOptions
	output              outputOptions
	artifacts           artifactOptions
	bundle              string
	mirrors             []string
	bootstrapKubeconfig string
	nodeImage           string
	registryBinary      string
	apiServerPort       int32
	engineAddress       string
	keepBootstrap       bool
	allowChanges        []string
	recipients          recipientOptions
	kubeconfig          string
	timeout             time.Duration
	streams             Streams
}

func newUp(streams Streams) *cobra.Command {
	o := &upOptions{streams: streams}
	c := &cobra.Command{
		Use:   "up ENVIRONMENT",
		Short: "Build a self-managed management cluster",
		Long: `up renders an environment, creates the temporary bootstrap cluster, installs Flux and telco-cloud-init in it, follows
the components until the management cluster is up, moves the cluster definitions into it (the pivot), proves that it
manages itself, and deletes the bootstrap cluster. It can be interrupted or killed at any moment: run it again.

ENVIRONMENT is one of those that ` + "`cluster-init environments`" + ` lists, or the path of a folder of your own.`,
		Example: `  cluster-init up kubeadm-capd
  cluster-init up kubeadm-capd --set cluster.control_plane.replicas=3 --set cluster.worker.replicas=2
  cluster-init up ./my-environment --source git --source-url https://git.example.org/platform.git`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f)
	o.sourceOptions.flags(f)
	o.output.flags(f)
	o.artifacts.register(f)
	f.StringVar(&o.bundle, "bundle", "", "folder of an offline bundle: all images and manifests come from it")
	f.StringArrayVar(&o.mirrors, "registry-mirror", nil, "HOST=URL: pull images of HOST from URL instead (repeatable)")
	f.StringVar(&o.bootstrapKubeconfig, "bootstrap-kubeconfig", "", "kubeconfig of an existing cluster to use as bootstrap cluster; it is not deleted")
	f.StringVar(&o.nodeImage, "node-image", "", "node image of the bootstrap cluster (default: the bundle's, or "+kind.DefaultNodeImage+")")
	f.StringVar(&o.registryBinary, "registry-binary", "", "static linux binary of cluster-init to run as registry (default: this one, or lib/cluster-init-linux-ARCH beside it)")
	f.Int32Var(&o.apiServerPort, "api-server-port", 0, "port of the bootstrap cluster's API server on this machine; 0 takes a free one")
	f.StringVar(&o.engineAddress, "engine-address", "", "where this machine reaches ports that the Docker engine publishes (default: the host of DOCKER_HOST)")
	f.BoolVar(&o.keepBootstrap, "keep-bootstrap", false, "do not delete the bootstrap cluster at the end")
	f.StringSliceVar(&o.allowChanges, "allow-changes", nil, "KEY of a change that takes something away from the cluster, as a run that refuses it says (repeatable)")
	o.recipients.flags(f)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "where to write the management cluster's kubeconfig, besides the state folder")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "bound of each phase that waits for a cluster")
	return c
}

func (o *upOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	dir, err := o.artifacts.folder()
	if err != nil {
		return err
	}
	kept := &record{dir: dir}
	sink = event.Tee{sink, kept}
	return narrate(ctx, sink, "up", name, func(ctx context.Context) (outcome, error) {
		ctx, leases := lease.NewSet(ctx)
		defer leases.ReleaseAll()
		run, err := o.complete(ctx, name, sink, leases)
		if err != nil {
			return outcome{}, err
		}
		held, err := hold(run.StateFolder, "up "+name)
		if err != nil {
			return outcome{}, err
		}
		defer held.Release() // an error leaves an unlocked file, which the next run takes over
		kept.run = run
		runner := pipeline.Runner{Sink: sink, Now: time.Now, Heartbeat: 30 * time.Second}
		err = runner.Run(ctx, run.Phases())
		return o.outcome(run), err
	}, func(ctx context.Context, err error, finished event.Event) { kept.keep(ctx, sink, err, finished) })
}

// complete checks all input, before anything is created.
func (o *upOptions) complete(ctx context.Context, name string, sink event.Sink, leases *lease.Set) (*up.Run, error) {
	engine := &docker.Client{}
	var makes provider.Provider // stays nil when the environment cannot be read
	env, err := o.load(ctx, name, func(env *environment.Environment) error {
		makes = providerOf(env, engine)
		return checkKubeconfig(o.kubeconfig, env.ClusterName())
	})
	mirrors, mirrorsErr := oci.ParseMirrors(o.mirrors)
	recipients, recipientsErr := o.recipients.parse()
	var opened *bundle.Bundle
	var bundleErr error
	if o.bundle != "" {
		opened, bundleErr = bundle.Open(o.bundle)
	}
	if err := fault.Join(err, o.sourceOptions.check(makes), o.check(), mirrorsErr, recipientsErr, bundleErr); err != nil {
		return nil, err
	}
	overrides := map[string]any{}
	var profile map[string][]byte
	if opened != nil {
		if err := opened.For(env.Name()); err != nil {
			return nil, err
		}
		if opened.Index.NodeImage == "" && o.nodeImage == "" { // then the first image of all would come from outside
			return nil, fault.New(fault.BundleInvalid, fmt.Sprintf("the bundle %s names no node image", o.bundle), "Build or download the bundle again, or give --node-image.")
		}
		of, err := oci.BundleMirrors(registry.Host(env.ClusterName()), opened.References(bundle.LoadRegistry))
		if err != nil {
			return nil, err
		}
		mirrors = joinMirrors(mirrors, of)
		overrides = bundleValues(opened, env.KubernetesVersion())
		if profile, err = opened.Profile(); err != nil {
			return nil, err
		}
	}
	if env, err = env.WithOverrides(overrides); err != nil {
		return nil, err
	}
	if env, err = env.WithRegistryMirrors(machineMirrors(mirrors), opened != nil); err != nil {
		return nil, err
	}
	if opened != nil {
		if err := opened.ForKubernetes(env.KubernetesVersion()); err != nil {
			return nil, err
		}
	}
	source, err := o.source(ctx, env)
	if err != nil {
		return nil, err
	}
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return nil, err
	}
	if o.kubeconfig == "" {
		o.kubeconfig = filepath.Join(state, "kubeconfig")
	}
	if err := canWrite(filepath.Join(state, "kubeconfig")); err != nil { // a copy of the kubeconfig, and backups
		return nil, fault.Wrap(fmt.Errorf("write to the state folder: %w", err), fault.Usage, "Set XDG_STATE_HOME to a folder that you may write to.")
	}
	var manifests bootstrap.Manifests = opened
	if opened == nil {
		if manifests, err = releaseFiles(env); err != nil {
			return nil, err
		}
	}
	return up.New(up.Options{
		Subject: world.Subject{Environment: env, BootstrapKubeconfig: o.bootstrapKubeconfig, EngineAddress: o.engineAddress, KubeconfigPath: o.kubeconfig,
			StateFolder: state, Timeout: o.timeout},
		Supplies: bootstrap.Supplies{Content: clusterinit.Content(), Profile: profile, Source: source, Bundle: opened, Manifests: manifests, Mirrors: mirrors,
			NodeImage: o.nodeImage, Binary: o.registryBinary, APIServerPort: o.apiServerPort},
		KeepBootstrap: o.keepBootstrap, AllowChanges: o.allowChanges,
		BackupRecipients: recipients, Version: Version(), Heartbeat: 15 * time.Second,
	}, world.Parts{
		Docker: engine, Provider: providerOf(env, engine), Leases: leases, Now: time.Now,
		Kind: kind.New(func(line string) {
			sink.Emit(event.Event{Time: time.Now(), Type: event.Log, Message: "kind: " + line})
		}),
	}), nil
}

func openBundle(folder, environmentName string) (*bundle.Bundle, error) {
	b, err := bundle.Open(folder)
	if err != nil {
		return nil, err
	}
	return b, b.For(environmentName)
}

// bundleValues are the chart's values that a bundle needs. version is the environment's: what RKE2 adds to it stays.
func bundleValues(b *bundle.Bundle, version string) map[string]any {
	values := map[string]any{}
	for k, v := range b.Index.Values {
		values[k] = v
	}
	cluster, _ := values["cluster"].(map[string]any)
	_, release, ofRKE2 := strings.Cut(version, "+")
	if version = b.Index.KubernetesVersion; ofRKE2 {
		version += "+" + release
	}
	merged := map[string]any{"image": b.Index.NodeImage, "kubernetes_version": version}
	for k, v := range cluster {
		merged[k] = v
	}
	values["cluster"] = merged
	return values
}

// stateFolder is where kubeconfigs and backups are kept, by the rules of the XDG base directory specification.
func stateFolder(cluster string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // empty, or to be ignored by the specification
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Wrap(fmt.Errorf("find a folder for the kubeconfig: %w", err), fault.Usage, "Set HOME or XDG_STATE_HOME.")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "cluster-init", cluster), nil
}

func (o *upOptions) outcome(run *up.Run) outcome {
	return outcome{
		message: "The management cluster " + run.Environment.ClusterName() + " manages itself.",
		fields: map[string]string{
			"kubeconfig": o.kubeconfig,
			"look":       "kubectl --kubeconfig " + o.kubeconfig + " get clusters,machines,kustomizations -A",
			"undo":       "cluster-init cleanup " + run.Environment.Name() + " --yes --force " + run.Environment.ClusterName(),
		},
		figures: map[string]string{"apiRequests": strconv.FormatInt(run.Requests(), 10)},
	}
}
