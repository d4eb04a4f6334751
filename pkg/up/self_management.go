package up

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// selfManagement proves, from the management cluster's own API, that this cluster manages itself.
type selfManagement struct {
	world    world
	releases releases
}

// run observes once a second. The proof is one consistent observation of everything, not a series of events.
func (s selfManagement) run(ctx context.Context, report pipeline.Reporter) error {
	management, err := s.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(ctx)
	listenEnded := make(chan error, 1)
	go func() { listenEnded <- rollout.Listen(ctx, management, s.releases.moveAddress(report)) }()
	defer func() { cancel(); <-listenEnded }()
	report = onceEach{report, map[string]bool{}}
	ended, reported := listenEnded, s.releases.now()
	var found proof
	for {
		observed, err := s.observe(ctx, management)
		if found = found.merge(observed, err); err == nil && len(found.unmet) == 0 {
			found.warn(report)
			if err = s.complete(ctx, management, report); err == nil {
				report.Progress("Cluster and control plane are Available, machines and nodes Ready, all components " +
					"Ready, all of it reconciled by its controllers, which act")
				return nil
			}
		}
		awaited, failure := found.describe()
		if s.releases.now().Sub(reported) >= s.releases.heartbeat {
			reported = s.releases.now()
			report.Waiting(awaited+": "+errors.Join(err, unmetError(found.unmet)).Error(), nil)
		}
		select {
		case err := <-ended:
			listenEnded <- nil // for the deferred receive
			if err != nil {
				return err
			}
			ended = nil // without an error it ends only with ctx
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("%s: %w", failure, errors.Join(err, unmetError(found.unmet), ctx.Err())),
				fault.ComponentStuck, "The bootstrap cluster is kept. Run the same command again to continue.")
		case <-tick.C:
		}
	}
}

// onceEach reports each warning once: every observation finds the same ones.
type onceEach struct {
	pipeline.Reporter
	warned map[string]bool
}

// Warn reports a warning that was not reported before.
func (o onceEach) Warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !o.warned[text] {
		o.warned[text] = true
		o.Reporter.Warn("%s", text)
	}
}

// complete resumes what the pivot left paused, and removes its record of Machines. It warns of other paused objects and
// of replaced Machines: they are not part of the proof, and may be intended.
func (s selfManagement) complete(ctx context.Context, management *kube.Cluster, report pipeline.Reporter) error {
	ctx, cancel := context.WithTimeout(ctx, rollout.MaxSilence/3)
	defer cancel()
	if err := pivot.ResumeMarked(ctx, s.world.Side(management), s.releases.scope); err != nil {
		return err
	}
	paused, err := pivot.PausedBeside(ctx, management, s.releases.scope)
	if err != nil {
		return err
	}
	replaced, err := pivot.Replaced(ctx, management, s.releases.scope)
	if err != nil {
		return err
	}
	if len(paused.Objects) > 0 {
		var names []string
		for _, o := range paused.Objects {
			names = append(names, o.String())
		}
		resume := paused.Command(clusters.Side{}, s.world.Side(management), s.releases.scope)
		report.Warn(
			"paused in the management cluster: %s. If nobody paused it on purpose, a move that was interrupted "+
				"did. To resume it: %s",
			strings.Join(names, ", "), strings.ReplaceAll(resume, "\n", "; "))
	}
	for _, machine := range replaced {
		report.Warn("%s. If no new values have replaced it, see why: kubectl -n %s get machines,events", machine,
			s.releases.scope.Namespace)
	}
	return pivot.ForgetMachines(ctx, management, s.releases.scope)
}

// observe limits its parts: managesItself has its own limit, the machines and the controllers share one. An API server
// that hangs must not delay the check whether it is gone.
func (s selfManagement) observe(ctx context.Context, management *kube.Cluster) (proof, error) {
	unmet, err := s.managesItself(ctx, management)
	if err != nil || len(unmet) > 0 {
		return proof{unmet: unmet}, err
	}
	ctx, cancel := context.WithTimeout(ctx, rollout.MaxSilence/3)
	defer cancel()
	unmet, err = selfmanaged.RolledOut(ctx, management, s.releases.scope)
	if err != nil || len(unmet) > 0 {
		return proof{manages: true, machinesChecked: err == nil, unmet: unmet}, err
	}
	return canAct(ctx, management)
}

// canAct reports what keeps a cluster from acting although it reports that all is ready. A status is only what its
// controller wrote last.
func canAct(ctx context.Context, management *kube.Cluster) (proof, error) {
	o := readiness.Observe(ctx, management)
	p := proof{manages: true, machinesChecked: true, controllersRead: o.Complete(),
		findings: readiness.Judge(o)}
	if !p.controllersRead {
		return p, fmt.Errorf("see whether the controllers of the management cluster act: %s",
			strings.Join(o.NotChecked, "; "))
	}
	for _, f := range readiness.Blocks(p.findings) {
		p.unmet = append(p.unmet, selfmanaged.Unmet{Aspect: selfmanaged.AspectHealth, Object: f.Object.String(),
			Message: f.Cause,
			Waiting: true})
	}
	return p, nil
}

func (s selfManagement) managesItself(ctx context.Context, management *kube.Cluster) ([]selfmanaged.Unmet, error) {
	ctx, cancel := context.WithTimeout(ctx, rollout.MaxSilence/3)
	defer cancel()
	components, err := rollout.OwnedKustomizations(ctx, management)
	if err != nil {
		return nil, err
	}
	return selfmanaged.Check(ctx, management, s.releases.scope, components)
}

func unmetError(unmet []selfmanaged.Unmet) error {
	var errs []error
	for _, u := range unmet {
		errs = append(errs, errors.New(u.String()))
	}
	return errors.Join(errs...)
}

// proof is what the observations of a management cluster have found so far.
type proof struct {
	manages         bool                // it manages itself: unmet then lists its machines or its health
	machinesChecked bool                // its machines were checked, too
	unmet           []selfmanaged.Unmet // conditions that are not met yet
	// controllersRead reports whether everything was read that decides whether its controllers act. findings are the
	// problems in it.
	controllersRead bool
	findings        []readiness.Finding
}

// warn reports the problems that do not block the cluster and do not go away by themselves.
func (p proof) warn(report pipeline.Reporter) {
	for _, f := range p.findings {
		if !f.Transient {
			report.Warn("%s (%s). %s", f.Cause, f.Object, f.Remedy)
		}
	}
}

// merge returns the proof after one more observation. A failed observation counts only if it comes further than those
// before: it is the first to show that the cluster manages itself, or that its machines are as they should be.
func (p proof) merge(observed proof, err error) proof {
	further := observed.manages && !p.manages ||
		observed.machinesChecked && (!p.machinesChecked || len(p.unmet) > 0 && len(observed.unmet) == 0)
	if err != nil && !further {
		return p
	}
	return observed
}

// describe returns what the phase waits for, and what it did not observe by the time it stops. A failed check does not
// prove the opposite.
func (p proof) describe() (awaited, failure string) {
	switch {
	case !p.manages:
		return "the management cluster to manage itself", "the management cluster was not seen to manage itself"
	case slices.ContainsFunc(p.unmet, func(u selfmanaged.Unmet) bool { return u.Aspect == selfmanaged.AspectHealth }):
		return "the management cluster to be able to act",
			"the management cluster says that it manages itself, but cannot act"
	case !p.machinesChecked || len(p.unmet) > 0:
		return "the management cluster to have all its machines as they should be",
			"the management cluster manages itself, but was not seen to have all its machines as they should be"
	case !p.controllersRead:
		return "a view of the controllers of the management cluster",
			"the management cluster manages itself, but it was not seen whether its controllers act"
	}
	return "the marks of the pivot in the management cluster", "the management cluster manages itself, but what the " +
		"pivot has marked in it could not be looked at, or not be cleared"
}

// definition enables the component `cluster` in the management cluster, so that Flux syncs the definition there. It
// first checks that the pivot is done: if two clusters reconcile a definition, they create two control planes.
type definition struct {
	world    world
	releases releases
}

func (d definition) run(ctx context.Context, report pipeline.Reporter) error {
	if err := d.releases.checkSource(ctx, d.world, environment.Management, report); err != nil {
		return err
	}
	current, err := d.world.currentDecision(ctx)
	if err != nil {
		return err
	}
	if current != pivoted {
		return fault.Retryable(errors.New("the bootstrap cluster holds the definition, so the management cluster must "+
			"not reconcile it as well"), fault.ClusterFailed,
			"Is another run at work on this environment? When it is over, run the same command again.")
	}
	management, err := d.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	return d.releases.sync(ctx, management, true, nil, report, d.releases.clusterKey())
}
