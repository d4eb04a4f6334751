package rollout

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Follower watches objects of one cluster, reports their changes and nudges their controllers.
type Follower struct {
	cluster   *kube.Cluster
	namespace string // empty: all
	resources []schema.GroupVersionResource
	heartbeat time.Duration
	silence   time.Duration // how long the API server may give no answer; zero: for ever
	// nudge is called with each object that waits for dependencies which are all ready by now; nil: never.
	nudge func(context.Context, *unstructured.Unstructured) error
	// wake is called now and then with each control plane that is not ready; nil: never.
	wake func(context.Context, *unstructured.Unstructured) error
	// renew is called now and then with each control plane that is not ready, and returns the name of a machine that it
	// had recreated; nil: never.
	renew func(context.Context, *unstructured.Unstructured) (string, error)
	// elsewhere returns what fails in another cluster, on which this wait hangs too; nil: there is none.
	elsewhere func(context.Context) ([]event.Object, error)
	// causes returns why something cannot get ready by itself; nil: nobody looks.
	causes func(context.Context) ([]Cause, error)
	// patient is whether such a cause ends no wait.
	patient bool
	now     func() time.Time
}

// Options of a Follower.
type Options struct {
	// Heartbeat is how often it is said what is waited for.
	Heartbeat time.Duration
	// Now is the clock of requests to controllers.
	Now func() time.Time
	// Kinds are those of the infrastructure provider to watch.
	Kinds []schema.GroupVersionResource
	// Cluster is the one that a run is about: control planes of others are only watched.
	Cluster Key
	// Renew is whether its first control-plane machine is recreated when that never came up, and the values that it was
	// made with have changed.
	Renew bool
	// Beside is a cluster on whose components this wait hangs too: what fails there is named first; nil: there is none.
	Beside *kube.Cluster
	// Causes returns why something cannot get ready by itself, which ends a wait for it. It is asked beside the wait,
	// and may outlast it; nil: nobody looks.
	Causes func(context.Context) ([]Cause, error)
	// KeepWaiting is whether such a cause is only told of.
	KeepWaiting bool
}

// NewFollower follows Flux and Cluster API in a cluster.
func NewFollower(c *kube.Cluster, o Options) Follower {
	f := Follower{cluster: c, heartbeat: o.Heartbeat, silence: MaxSilence, causes: o.Causes, patient: o.KeepWaiting,
		now: o.Now, resources: slices.Concat(fluxResources(), clusterResources(), o.Kinds),
		nudge: func(ctx context.Context, object *unstructured.Unstructured) error {
			return flux.RequestReconcile(ctx, c, object.DeepCopy(), o.Now())
		},
		wake: func(ctx context.Context, object *unstructured.Unstructured) error {
			if !ofCluster(object, o.Cluster) {
				return nil
			}
			return errors.Join(dropOutdated(ctx, c, o.Cluster), requestReconcile(ctx, c, object.DeepCopy()))
		}}
	if o.Renew {
		f.renew = func(ctx context.Context, object *unstructured.Unstructured) (string, error) {
			if !ofCluster(object, o.Cluster) {
				return "", nil
			}
			return recreateFirstMachine(ctx, c, object)
		}
	}
	if o.Beside != nil {
		f.elsewhere = func(ctx context.Context) ([]event.Object, error) { return failing(ctx, o.Beside) }
	}
	return f
}

// NewDeployments follows the Deployments of one namespace.
func NewDeployments(c *kube.Cluster, namespace string, o Options) Follower {
	f := NewFollower(c, o)
	f.namespace, f.nudge, f.wake = namespace, nil, nil
	f.resources = []schema.GroupVersionResource{resource("apps", "v1", "deployments")}
	return f
}

// Await returns once everything that g names is ready. It fails at once when one of them is suspended or says itself
// that it gave up, and when ctx ends; the error then names what was not ready, with each object's own message.
func (f Follower) Await(ctx context.Context, g Goal, report pipeline.Reporter) error {
	ctx, cancel := context.WithCancel(ctx)
	changes, causes := make(chan kube.Change), make(chan []Cause)
	ended := make(chan error, 2)
	var looks sync.WaitGroup
	looks.Go(func() { f.lookForCauses(ctx, causes) })
	go func() { ended <- f.listen(ctx) }()
	go func() {
		ended <- f.cluster.Watch(ctx, f.namespace, f.resources, func(c kube.Change) {
			select {
			case changes <- c:
			case <-ctx.Done():
			}
		})
	}()
	view := newView(f.cluster.Name, g)
	err := f.loop(ctx, view, changes, causes, ended, report)
	cancel()
	looks.Wait()
	return errors.Join(err, <-ended, <-ended)
}

func (f Follower) loop(ctx context.Context, v *view, changes <-chan kube.Change, causes <-chan []Cause,
	ended chan error, report pipeline.Reporter) error {
	beat := time.NewTicker(f.heartbeat)
	defer beat.Stop()
	ask := time.NewTicker(askInterval)
	defer ask.Stop()
	wake := time.NewTicker(wakeInterval)
	defer wake.Stop()
	var tracker causeTracker
	for {
		select {
		case <-ctx.Done():
			return v.unfinished(ctx.Err())
		case err := <-ended:
			ended <- nil
			if err == nil { // both end well only with their context
				err = v.unfinished(context.Cause(ctx))
			}
			return err
		case <-beat.C:
			f.lookElsewhere(ctx, v, report)
			report.Waiting(v.goal.What, v.blocked())
		case <-ask.C:
			if err := f.discover(ctx, v); err != nil {
				return err
			}
			if err := v.unrecoverable(); err != nil {
				return err
			}
			if v.reached() && v.goal.Until == nil {
				return nil
			}
			if v.goal.Until != nil && v.reached() && f.ask(ctx, v.goal) {
				return nil
			}
		case found := <-causes:
			if err := f.permanentCause(&tracker, found, v, report); err != nil {
				return err
			}
		case <-wake.C:
			nudgeAll(ctx, f.wake, v.waitingControlPlanes, report)
			nudgeAll(ctx, f.renewing(report), v.waitingControlPlanes, report)
		case c := <-changes:
			changed, object := v.take(c)
			if changed {
				report.Object(object)
			}
			clusters := v.countAgain(c)
			for _, cluster := range clusters {
				report.Object(cluster)
			}
			if !changed && len(clusters) == 0 && c.Object != nil {
				continue
			}
			if remark := v.noteUnmanaged(object); remark != "" {
				report.Warn("%s", remark)
			}
			if err := f.discover(ctx, v); err != nil {
				return err
			}
			if err := v.unrecoverable(); err != nil {
				return err
			}
			if v.reached() && v.goal.Until == nil {
				return nil
			}
			nudgeAll(ctx, f.nudge, v.unblocked, report)
		}
	}
}

const askInterval = time.Second

// discover finds out, once the HelmRelease is ready, what else is to be ready. What cannot be asked now is asked again
// a second later; that the API server is gone for good is seen elsewhere.
func (f Follower) discover(ctx context.Context, v *view) error {
	if v.goal.Made == nil || v.states[releaseKey()].State != health.Ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askInterval)
	defer cancel()
	keys, err := v.goal.Made(ctx)
	switch {
	case fault.CodeOf(err) == fault.ComponentStuck:
		return err
	case err == nil:
		v.goal.Ready, v.goal.Made = append(v.goal.Ready, keys...), nil
	}
	return nil
}

// ask gives the question at most a second: meanwhile no event is taken.
func (f Follower) ask(ctx context.Context, g Goal) bool {
	ctx, cancel := context.WithTimeout(ctx, askInterval)
	defer cancel()
	return g.Until(ctx)
}

// nudgeBound is for all that is nudged at once: meanwhile no event is taken.
const nudgeBound = 5 * time.Second

// wakeInterval is short against what a controller sleeps that has failed often: CAPRKE2, which polls a machine that
// starts, was seen asleep for minutes beside an API server that answered.
const wakeInterval = 10 * time.Second

// nudgeAll has the controllers of objects look at them now. That one cannot be nudged costs time only: its controller
// looks again by itself.
func nudgeAll(ctx context.Context, nudge func(context.Context, *unstructured.Unstructured) error,
	objects func() []*unstructured.Unstructured, report pipeline.Reporter) {
	if nudge == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nudgeBound)
	defer cancel()
	for _, o := range objects() {
		if err := nudge(ctx, o); err != nil && ctx.Err() == nil {
			report.Log(err.Error())
		}
	}
}
