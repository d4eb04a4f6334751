package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	src "github.com/cluster-init/cluster-init/pkg/source"
)

// buildOptions are the flags of commands that create a bootstrap cluster.
type buildOptions struct {
	environmentOptions
	sourceOptions
	bundle              string
	mirrors             []string
	bootstrapKubeconfig string
	nodeImage           string
	registryBinary      string
	requirePinned       bool
	apiServerPort       int32
	engineAddress       string
	recipients          recipientOptions
	kubeconfig          string
	readsKubeconfig     bool // --kubeconfig is only read
	newCluster          string
	timeout, total      time.Duration
	phaseTimeouts       phaseTimeouts
}

const requirePinnedUsage = "refuse release files for which this binary has no digest"

// flags registers the flags of a command with these phases.
func (o *buildOptions) flags(f *pflag.FlagSet, streams Streams, phases []string) {
	o.supplyFlags(f, streams, phases)
	f.StringVar(&o.nodeImage, "node-image", "", "node image of the bootstrap cluster (default: the bundle's, or "+
		kind.DefaultNodeImage+")")
	f.Int32Var(&o.apiServerPort, "api-server-port", 0, "port of the bootstrap cluster's API server on this machine; 0 "+
		"picks a free one")
	f.StringVar(&o.engineAddress, "engine-address", "", "host name or IP address where this machine reaches published "+
		"ports of the Docker engine (default: the host of DOCKER_HOST)")
	o.recipients.flags(f)
}

// supplyFlags registers the flags of a command that installs the components of an environment in these phases.
func (o *buildOptions) supplyFlags(f *pflag.FlagSet, streams Streams, phases []string) {
	o.environmentOptions.flags(f, streams)
	o.sourceOptions.flags(f)
	f.StringVar(&o.bundle, "bundle", "", "folder of an offline bundle: all images and manifests come from it")
	f.BoolVar(&o.requirePinned, "require-pinned", false, requirePinnedUsage)
	f.StringArrayVar(&o.mirrors, "registry-mirror", nil, "HOST=URL: pull images of HOST from URL instead (repeatable)")
	f.StringVar(&o.registryBinary, "registry-binary", "", "static linux binary of cluster-init to run as registry "+
		"(default: this one, or lib/cluster-init-linux-ARCH next to it)")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute,
		"timeout of each phase that waits for a cluster; 0 waits forever")
	o.phaseTimeouts.flags(f, phases)
	f.DurationVar(&o.total, "total-timeout", 0, "timeout of the whole run (default: none)")
}

// flagsOfUp registers the flags of up and check that `down` lacks, or has with another meaning.
func (o *buildOptions) flagsOfUp(f *pflag.FlagSet, allowChanges *[]string) {
	f.StringVar(&o.newCluster, "new", "", "NAME of the cluster: confirm that it does not exist yet. Needed for the "+
		"first run where machines cannot be listed (AWS); leave it out of CI jobs that run again")
	f.StringVar(&o.bootstrapKubeconfig, "bootstrap-kubeconfig", "",
		"kubeconfig of an existing cluster to use as bootstrap cluster; it is not deleted")
	overriddenBy(f, []string{"bootstrap-kubeconfig"}, "node-image", "api-server-port", "registry-binary")
	f.StringSliceVar(allowChanges, "allow-changes", nil, "allow this change (KEY from the refusal; repeatable)")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "also write the management cluster's kubeconfig to this file")
}

// resolved holds the validated flags.
type resolved struct {
	environment *environment.Environment
	subject     clusters.Subject
	supplies    bootstrap.Supplies
	sealing     sealing
	parts       clusters.Parts
	bounds      map[string]time.Duration // timeouts of phases by name; the names are not checked yet
}

// needsNoEngine reports whether the run uses no Docker engine: for bootstrap cluster, source, images and machines.
func (o *buildOptions) needsNoEngine(opened *bundle.Bundle, makes provider.Provider) bool {
	if opened != nil || src.Kind(o.kind) == src.Embedded || makes == nil {
		return false
	}
	return o.installed || o.bootstrapKubeconfig != "" && !makes.ReachesEngine()
}

// builtHere reports whether the bootstrap cluster of an earlier run with this state folder may still exist. Then the
// engine must be checked: the definition could be there.
func builtHere(state string) bool {
	_, err := os.Lstat(filepath.Join(state, clusters.BootstrapKubeconfigFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// resolve checks all input, before anything is created.
func (o *buildOptions) resolve(ctx context.Context, name string, sink event.Sink, leases *lease.Set) (
	*resolved, error) {
	engine := &docker.Client{}
	var makes provider.Provider // stays nil when the environment cannot be read
	env, err := o.load(ctx, name, func(env *environment.Environment) error {
		makes, _ = known.Of(env, engine) // the schema refuses unknown providers
		if o.readsKubeconfig {
			return checkNew(o.newCluster, env.ClusterName())
		}
		return fault.Join(checkKubeconfig(o.kubeconfig, env.ClusterName()), checkNew(o.newCluster, env.ClusterName()))
	})
	if err == nil {
		err = checkScheduled(env)
	}
	mirrors, mirrorsErr := oci.ParseMirrors(o.mirrors)
	sealing, sealingErr := o.recipients.parse()
	bounds, boundsErr := o.phaseTimeouts.parse()
	var opened *bundle.Bundle
	var bundleErr error
	if o.bundle != "" {
		opened, bundleErr = bundle.Open(o.bundle)
	}
	if err := fault.Join(err, o.sourceOptions.check(makes), o.check(), boundsErr, mirrorsErr, sealingErr,
		bundleErr); err != nil {
		return nil, err
	}
	var profile map[string][]byte
	if opened != nil {
		if err := opened.For(env.BuiltOn()); err != nil {
			return nil, err
		}
		if opened.Index.NodeImage == "" && o.nodeImage == "" { // otherwise the node image would come from the internet
			return nil, fault.New(fault.BundleInvalid, fmt.Sprintf("the bundle %s names no node image", o.bundle),
				"Build or download the bundle again, or give --node-image.")
		}
		if profile, err = opened.Profile(); err != nil {
			return nil, err
		}
	}
	if env, mirrors, err = asApplied(env, opened, mirrors, env.ClusterName()); err != nil {
		return nil, err
	}
	if env, err = withProgramsBeside(env); err != nil {
		return nil, err
	}
	programs, err := programsFor(env)
	if err == nil {
		err = o.checkRegistryBinary(programs)
	}
	if err != nil {
		return nil, err
	}
	if env, err = env.WithGitHost(o.gitHost()); err != nil {
		return nil, err
	}
	if opened != nil {
		if err := opened.ForKubernetes(env.KubernetesVersion()); err != nil {
			return nil, err
		}
	}
	var warning string
	if src.Kind(o.kind) == src.Embedded {
		profile, err = o.components.with(env, clusterinit.Content(), profile)
	} else {
		warning, err = checkElsewhere(env, src.Kind(o.kind))
	}
	if err != nil {
		return nil, err
	}
	source, err := o.source(ctx, env)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		source.Notes = append(source.Notes, warning)
	}
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return nil, err
	}
	engine.NotNeeded = o.needsNoEngine(opened, makes) && !builtHere(state)
	if o.kubeconfig == "" {
		o.kubeconfig = filepath.Join(state, "kubeconfig")
	}
	if err := canWrite(filepath.Join(state, "kubeconfig")); err != nil { // for a copy of the kubeconfig, and backups
		return nil, fault.Wrap(fmt.Errorf("write to the state folder: %w", err), fault.Usage,
			"Set XDG_STATE_HOME to a folder that you may write to.")
	}
	var manifests bootstrap.Manifests = opened
	if opened == nil {
		if manifests, err = releaseFiles(env); err != nil {
			return nil, err
		}
	}
	return &resolved{
		environment: env,
		subject: clusters.Subject{Identity: clusters.IdentityOf(env), BootstrapKubeconfig: o.bootstrapKubeconfig,
			EngineAddress: o.engineAddress, KubeconfigPath: o.kubeconfig,
			StateFolder: state, Timeout: o.timeout},
		supplies: bootstrap.Supplies{Content: clusterinit.Content(), Profile: profile, Source: source, Bundle: opened,
			Manifests: manifests, Mirrors: mirrors, Programs: programs,
			RequirePinned: o.requirePinned, NodeImage: o.nodeImage, Binary: o.registryBinary,
			APIServerPort: o.apiServerPort},
		sealing: sealing,
		bounds:  bounds,
		parts: clusters.Parts{
			Docker: engine, Provider: makes, Leases: leases, Now: time.Now,
			Kind: kind.New(func(line string) {
				sink.Emit(event.Event{Time: time.Now(), Type: event.Log, Message: "kind: " + line})
			}),
		},
	}, nil
}
