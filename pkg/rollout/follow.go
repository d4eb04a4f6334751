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
	// unanswered is Options.Unanswered.
	unanswered func(ctx context.Context, joined []string) bool
	// joined is kept while Await runs. Nil means that no Machine is seen.
	joined *joined
	// nudge is called once with each unready object whose dependencies have become ready. Nil means never.
	nudge func(context.Context, *unstructured.Unstructured) error
	// wake is called regularly with each control plane that is not ready. Nil means never.
	wake func(context.Context, *unstructured.Unstructured) error
	// renew is called regularly with each control plane that is not ready. It returns the name of the machine that it
	// had recreated. Nil means never.
	renew func(context.Context, *unstructured.Unstructured) (string, error)
	// elsewhere returns what fails in another cluster that this wait depends on. Nil means there is none.
	elsewhere func(context.Context) ([]event.Object, error)
	// causes returns the permanent causes of objects that do not become ready. Nil means not checked.
	causes func(context.Context) ([]Cause, error)
	// patient reports whether the wait continues in spite of a permanent cause.
	patient bool
	now     func() time.Time
	key     Key // Options.Cluster
}

// Options of a Follower.
type Options struct {
	// Heartbeat is the interval at which the follower reports what it waits for.
	Heartbeat time.Duration
	// Now is the clock of reconcile requests and of permanent causes.
	Now func() time.Time
	// Kinds are the kinds of the infrastructure provider to watch.
	Kinds []schema.GroupVersionResource
	// Cluster is the Cluster of this run. Control planes of other Clusters are only watched.
	Cluster Key
	// Renew makes the follower recreate the first control-plane machine if it never came up and the values that it was
	// made with have changed.
	Renew bool
	// Beside is a cluster whose components this wait depends on: what fails there is named first. Nil means there is
	// none.
	Beside *kube.Cluster
	// Causes returns the permanent causes of objects that do not become ready. Such a cause ends a wait for them if it
	// persists. Causes runs at the same time as the wait, and may outlast it. Nil means not checked.
	Causes func(context.Context) ([]Cause, error)
	// Unanswered is called after each question whether the API server is ready, once it was not for half of MaxSilence:
	// it was silent, or said so, as one does that has lost its etcd. The argument is the Machines of Cluster that were
	// last seen with a Node and not as being deleted; nil if none was seen. It reports whether it has changed something
	// that may make the server ready: then the time begins anew. Nil means that nothing can be done.
	Unanswered func(ctx context.Context, joined []string) bool
	// KeepWaiting makes the follower report such a cause without ending the wait.
	KeepWaiting bool
}

// NewFollower follows Flux and Cluster API in a cluster.
func NewFollower(c *kube.Cluster, o Options) Follower {
	f := Follower{cluster: c, heartbeat: o.Heartbeat, silence: MaxSilence, unanswered: o.Unanswered, causes: o.Causes,
		patient: o.KeepWaiting, now: o.Now, key: o.Cluster,
		resources: slices.Concat(fluxResources(), clusterResources(), o.Kinds),
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

// NewIn follows Flux and Cluster API in one namespace of a cluster.
func NewIn(c *kube.Cluster, namespace string, o Options) Follower {
	f := NewFollower(c, o)
	f.namespace = namespace
	return f
}

// NewDeployments follows the Deployments of one namespace.
func NewDeployments(c *kube.Cluster, namespace string, o Options) Follower {
	f := NewFollower(c, o)
	f.namespace, f.nudge, f.wake = namespace, nil, nil
	f.resources = []schema.GroupVersionResource{resource("apps", "v1", "deployments")}
	return f
}

// Await returns once everything that g names is ready. It fails when waiting cannot help, and when ctx ends. At the end
// of ctx the error names what was not ready, with each object's own message.
func (f Follower) Await(ctx context.Context, g Goal, report pipeline.Reporter) error {
	ctx, cancel := context.WithCancel(ctx)
	changes, causes := make(chan kube.Change), make(chan []Cause)
	ended := make(chan error, 2)
	view := newView(f.cluster.Name, g)
	f.joined = &joined{of: f.key}
	var looks sync.WaitGroup
	looks.Go(func() { f.lookForCauses(ctx, &view.progress, causes) })
	go func() { ended <- f.listen(ctx) }()
	go func() {
		ended <- f.cluster.Watch(ctx, f.namespace, f.resources, func(c kube.Change) {
			f.joined.see(c)
			select {
			case changes <- c:
			case <-ctx.Done():
			}
		})
	}()
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
			if err == nil { // both return nil only when their context ends
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

// discover finds out, once the HelmRelease is ready, what else must be ready. A failed request is no error: the next
// call retries it, and listen detects an API server that is gone for good.
func (f Follower) discover(ctx context.Context, v *view) error {
	if v.goal.Made == nil || v.states[keyOf(v.release())].State != health.Ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nudgeBound)
	defer cancel()
	requests, err := v.goal.Made(ctx)
	switch {
	case fault.CodeOf(err) == fault.ComponentStuck:
		return err
	case err == nil:
		v.goal.Made = nil
		v.require(requests)
	}
	return nil
}

// ask gives the check at most a second. The view takes no event during it.
func (f Follower) ask(ctx context.Context, g Goal) bool {
	ctx, cancel := context.WithTimeout(ctx, askInterval)
	defer cancel()
	return g.Until(ctx)
}

// nudgeBound is for all requests at once. The view takes no event during them.
const nudgeBound = 5 * time.Second

// wakeInterval is short compared with the backoff of a controller that has failed often: CAPRKE2, which polls a
// starting machine, was seen asleep for minutes while the API server answered.
const wakeInterval = 10 * time.Second

// nudgeAll requests a reconciliation of each object. A failure only costs time: the controller reconciles by itself
// later.
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
