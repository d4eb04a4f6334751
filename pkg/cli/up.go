package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/timeline"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// upOptions are the flags of `up`.
type upOptions struct {
	buildOptions
	output        outputOptions
	artifacts     artifactOptions
	keepBootstrap bool
	keepWaiting   bool
	allowChanges  []string
	dry           bool
	streams       Streams
}

func newUp(streams Streams) *cobra.Command {
	o := &upOptions{streams: streams}
	c := &cobra.Command{
		Use:   "up ENVIRONMENT",
		Short: "Build a self-managed management cluster",
		Long: `up builds a management cluster in these steps:

  1. It renders the environment and creates the temporary bootstrap cluster.
  2. It installs Flux and telco-cloud-init in the bootstrap cluster.
  3. It waits until the components have created the management cluster.
  4. It moves the cluster definitions into the management cluster (the pivot).
  5. It proves that the management cluster manages itself, and deletes the bootstrap cluster.

You can interrupt or kill up at any time and run it again.

ENVIRONMENT is a name that ` + "`cluster-init environments`" + ` lists, or the path of a folder of your
own.`,
		Example: `  cluster-init up kubeadm-capd
  cluster-init up kubeadm-capd --dry-run
  cluster-init up kubeadm-capd --set cluster.control_plane.replicas=3 --set cluster.worker.replicas=2
  cluster-init up ./my-environment --source git --source-url https://git.example.org/platform.git`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.dry {
				return o.dryRun(c.Context(), args[0])
			}
			return o.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	o.buildOptions.flags(f, o.streams, up.PhaseNames())
	o.buildOptions.flagsOfUp(f, &o.allowChanges)
	o.output.flags(f)
	o.artifacts.register(f)
	f.BoolVar(&o.dry, "dry-run", false, "change nothing: show what each phase would do")
	f.BoolVar(&o.keepWaiting, "keep-waiting", false, "keep waiting when a permanent failure is detected")
	f.BoolVar(&o.keepBootstrap, "keep-bootstrap", false, "do not delete the bootstrap cluster at the end")
	// not the reverse: a typed --report must not turn a dry run into a run
	overriddenBy(f, []string{"dry-run"}, "junit", "report")
	return c
}

func (o *upOptions) run(ctx context.Context, name string) error {
	narrated, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	dir, err := o.artifacts.folder()
	if err != nil {
		return err
	}
	ctx, release := o.bounded(ctx)
	defer release()
	kept := &record{dir: dir}
	began := time.Now()
	sink := event.Tee{narrated, kept}
	return runPhases(ctx, sink, "up", name, func(ctx context.Context, leases *lease.Set) (*phaseRun, error) {
		b, err := o.resolve(ctx, name, sink, leases)
		if err != nil {
			return nil, err
		}
		run := up.New(up.Options{Subject: b.subject, Environment: b.environment, Supplies: b.supplies,
			KeepBootstrap: o.keepBootstrap,
			ConfirmedNew:  o.newCluster, AllowChanges: o.allowChanges,
			BackupRecipients: b.sealing.recipients, BackupSigner: b.sealing.signer, Version: Version(),
			Heartbeat: 15 * time.Second, KeepWaiting: o.keepWaiting,
			Causes: func(ctx context.Context) ([]rollout.Cause, error) {
				// a separate world, because a diagnosis may outlast the wait
				return diagnosisOf(clusters.New(b.subject, b.parts)).permanentCauses(ctx, began)
			}}, b.parts)
		phases := after(run.Phases(), up.PhaseLook, func() {
			narrated.learn(run.Environment, secretsOf(run.Source)...)
			narrated.like(run.Inputs())
		})
		written := func(completed bool) func() {
			return func() {
				if err := remember(o.given, name, run.StateFolder, completed); err != nil {
					sink.Emit(event.Event{Time: time.Now(), Type: event.Warning,
						Message: err.Error() + ": later commands need the flags of this one"})
				}
			}
		}
		phases = after(afterFirstChange(phases, written(false)), up.PhaseSelfManagement, written(true))
		phases, err = pipeline.WithBounds(phases, b.bounds)
		if err != nil {
			return nil, err
		}
		return &phaseRun{folder: run.StateFolder, begins: func() { kept.run = run },
			diagnosis: func() *diagnosis { return diagnosisOf(clusters.New(b.subject, b.parts)) },
			accepted: func() {
				narrated.begin(run.Environment, secretsOf(run.Source)...)
			}, phases: phases, outcome: func() outcome { return o.outcome(run) }}, nil
	}, func(ctx context.Context, err error, finished event.Event) {
		kept.keep(ctx, sink, err, finished)
	})
}

// after calls done when Run of the phase of that name has succeeded. A skipped phase does not count.
func after(phases []pipeline.Phase, name string, done func()) []pipeline.Phase {
	for i := range phases {
		if phases[i].Name == name {
			phases[i].Run = then(phases[i].Run, done)
		}
	}
	return phases
}

// afterFirstChange calls done once, after the first successful phase that changes something. A refused run leaves no
// trace. Pulled node images do not count.
func afterFirstChange(phases []pipeline.Phase, done func()) []pipeline.Phase {
	var once sync.Once
	for i := range phases {
		if !phases[i].Looks && phases[i].Name != up.PhaseImages {
			phases[i].Run = then(phases[i].Run, func() { once.Do(done) })
		}
	}
	return phases
}

type phaseFunc = func(context.Context, pipeline.Reporter) error

// then returns a run of a phase that calls done when it has succeeded.
func then(run phaseFunc, done func()) phaseFunc {
	return func(ctx context.Context, report pipeline.Reporter) error {
		err := run(ctx, report)
		if err == nil {
			done()
		}
		return err
	}
}

// openBundle opens a bundle for an environment. Nil means no folder is given.
func openBundle(folder, environmentName string) (*bundle.Bundle, error) {
	if folder == "" {
		return nil, nil
	}
	b, err := bundle.Open(folder)
	if err != nil {
		return nil, err
	}
	return b, b.For(environmentName)
}

// bundleValues returns the chart's values that a bundle needs. version is the environment's: its suffix of RKE2 is
// kept.
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

// stateFolder returns the folder for the kubeconfigs and backups of a cluster.
func stateFolder(cluster string) (string, error) {
	base, err := stateBase()
	return filepath.Join(base, cluster), err
}

// stateBase returns the folder of all state folders, by the rules of the XDG base directory specification.
func stateBase() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // empty, or to be ignored by the specification
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Wrap(fmt.Errorf("find a folder for the kubeconfig: %w", err), fault.Usage,
				"Set HOME or XDG_STATE_HOME.")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "cluster-init"), nil
}

func (o *upOptions) outcome(run *up.Run) outcome {
	return outcome{
		message: "The management cluster " + run.Environment.ClusterName() + " manages itself.",
		fields: map[string]string{
			"kubeconfig": o.kubeconfig,
			"look": "kubectl --kubeconfig " + oneline.Shell(o.kubeconfig) +
				" get clusters,machines,kustomizations -A",
			"undo": "cluster-init down " + run.Environment.Argument(),
		},
		figures: map[string]string{"apiRequests": strconv.FormatInt(run.Requests(), 10),
			timeline.InputsField: run.Inputs()},
	}
}
