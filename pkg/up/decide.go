package up

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// decider makes the verdicts of `up`.
type decider struct {
	clusters.Decider[verdict]
	isNew bool // the user says that the cluster does not exist yet
}

// newDecider returns the decider of a run. isNew reports that the user says that the cluster does not exist yet.
func newDecider(w *clusters.World, isNew bool) *decider {
	d := &decider{isNew: isNew}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again, Reason: v.why}
	}}
	return d
}

// confirm observes the clusters again before a step that cannot be undone. It fails unless the verdict allows the step.
func (w *decider) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	return w.Confirm(ctx, func(v verdict) bool { return v.decision == allows }, stoppedMeanwhile(w.Cluster))
}

func stoppedMeanwhile(cluster string) error {
	return fault.Retryable(fmt.Errorf("a container of %s stopped while this run was working", cluster), fault.Busy,
		"Run the same command again, which starts it.")
}

// progress reports how far the move of the definition is. If a cluster does not answer, it retries for a while, and
// then returns an error.
func (w *decider) progress(ctx context.Context) (decision, error) {
	if _, err := w.Connected(clusters.ManagementName); err != nil { // no cluster was observed that could hold it
		return goOn, nil
	}
	o, v, err := w.Standing(ctx, w.ObserveClusters)
	if err != nil { // its hint may name the file
		return refuse, errors.Join(err, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	}
	return v.decision, nil
}

// request returns the facts about this run that verdicts about o need.
func (w *decider) request(o clusters.Observation) request {
	r := request{
		environment: w.Argument, cluster: w.Cluster,
		namespace: w.Namespace,
		place:     w.Provider.Place(), kubeconfig: w.KubeconfigPath, backups: w.StateFolder,
		source: w.Side(o.Bootstrap.Cluster), target: w.Side(o.Management.Cluster),
	}
	r.isNew = w.isNew
	if p, is := w.Provider.(provider.CleanupUnsupported); is {
		r.find = p.Find(r.cluster)
	}
	if w.BootstrapKubeconfig == "" {
		r.node = kind.NodeName(w.BootstrapName())
	}
	return r
}

// look finds how far an earlier run got, and refuses if that is not known. It starts managed containers that are
// stopped, and changes nothing else. The later phases rely on its verdict.
type look struct {
	world   *decider
	engine  *docker.Client
	cluster string
	changes changes
	resumes *bool                          // run sets it
	applies func(*environment.Environment) // sets what the later phases apply
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if err := registry.CheckOurs(ctx, l.engine, l.cluster); err != nil {
		return err
	}
	o, v, err := l.world.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	applied, err := l.changes.check(ctx, o, v, report)
	if err != nil {
		return err
	}
	l.applies(applied)
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	*l.resumes = v.decision != fresh
	report.Progress("%s", v.why)
	return l.world.UseAndSave(o)
}

// Outlook is an observation of an environment's clusters, and the verdict of `up` on it.
type Outlook struct {
	clusters.Observation
	// Stage is where a run would begin: one of the constants of this package.
	Stage   Stage
	Why     string // what was seen, for people
	Refusal error  // set for Refused: why a run would not begin
}

// ByItself reports whether the management cluster holds its own definition, and it cannot be checked whether a
// bootstrap cluster exists. A machine that has only the kubeconfig is such a case. A run would not begin there, but a
// read-only command can show the management cluster.
func (o Outlook) ByItself() bool {
	return o.Bootstrap.State == clusters.BootstrapSilent && o.Bootstrap.NotChecked &&
		o.Management.State == clusters.ManagementActive && !o.Management.Down
}

// Stage is how far an environment is.
type Stage string

// The stages of an environment.
const (
	NotThere    Stage = Stage(fresh)   // nothing of it exists, or only an empty cluster
	BeforePivot Stage = Stage(goOn)    // the bootstrap cluster holds the definition
	PivotBegun  Stage = Stage(begun)   // a pivot was begun, and has moved nothing yet
	HalfMoved   Stage = Stage(finish)  // a move was interrupted
	SelfManaged Stage = Stage(pivoted) // only the management cluster holds the definition
	Stopped     Stage = Stage(start)   // something of it is stopped
	Refused     Stage = Stage(refuse)  // it is not known, or a run would destroy something
)

// Outlook observes the clusters once, and changes nothing. If the Docker engine does not answer, that is part of the
// observation.
func (u *Run) Outlook(ctx context.Context) Outlook {
	_, _ = u.world.AskEngine(ctx)
	o := u.world.Observe(ctx)
	v := judge(o, u.world.request(o))
	return Outlook{Observation: o, Stage: Stage(v.decision), Why: v.why, Refusal: v.refusal}
}
