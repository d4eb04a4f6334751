package down

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var own = clusters.Scope{Namespace: "ns", Cluster: "demo"}

// cluster returns a cluster in memory, with the release of telco-cloud-init and these objects.
func cluster(t *testing.T, name string, objects ...client.Object) *kube.Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(helmv2.AddToScheme(scheme), kustomizev1.AddToScheme(scheme), clusterv1.AddToScheme(scheme),
		apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	release := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: flux.ReleaseName}}
	return &kube.Cluster{Name: name, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		append(objects, release)...).Build()}
}

func clusterObject(namespace, name string, edits ...func(*clusterv1.Cluster)) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		Annotations: map[string]string{}}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

// sceneWorld is a fake world: a test sets the observation, and it records the changes. It has no decider: what these
// tests do not use panics.
type sceneWorld struct {
	*decider
	bootstrap, management *kube.Cluster
	seen                  verdict
	o                     clusters.Observation
	err                   error // of each observation
	done                  []string
}

func (s *sceneWorld) Connected(name string) (*kube.Cluster, error) {
	if c := map[string]*kube.Cluster{clusters.BootstrapName: s.bootstrap,
		clusters.ManagementName: s.management}[name]; c != nil {
		return c, nil
	}
	return nil, errors.New("this test has no " + name + " cluster")
}

func (s *sceneWorld) observe(context.Context) (clusters.Observation, verdict, error) {
	s.o.Bootstrap.Cluster, s.o.Management.Cluster = s.bootstrap, s.management
	return s.o, s.seen, s.err
}

func (s *sceneWorld) peekBootstrap(context.Context) (verdict, error) { return s.seen, s.err }

func (s *sceneWorld) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	o, v, err := s.observe(ctx)
	if err == nil && v.decision != allows {
		err = fault.New(fault.Busy, "it is something else: "+string(v.decision), "wait")
	}
	return o, err
}

func (s *sceneWorld) DecideLeased(ctx context.Context, _ pipeline.Reporter) (clusters.Observation, verdict, error) {
	return s.observe(ctx)
}

func (s *sceneWorld) AskEngine(context.Context) (docker.Info, error) { return docker.Info{}, nil }
func (s *sceneWorld) Side(c *kube.Cluster) clusters.Side             { return clusters.Side{Client: c.Client} }
func (s *sceneWorld) UseAndSave(clusters.Observation) error          { return s.note("adopt") }
func (s *sceneWorld) EndLease(name string)                           { _ = s.note("end the lease of " + name) }
func (s *sceneWorld) KeepBootstrapKubeconfig(*kube.Cluster) error    { return nil }
func (s *sceneWorld) request(clusters.Observation) request {
	return request{environment: "env", cluster: "demo", namespace: "ns"}
}

func (s *sceneWorld) note(what string) error {
	s.done = append(s.done, what)
	return nil
}

// silence is a reporter that drops everything.
type silence struct{}

func (silence) Progress(string, ...any)        {}
func (silence) Warn(string, ...any)            {}
func (silence) Object(event.Object)            {}
func (silence) Waiting(string, []event.Object) {}
func (silence) Log(string)                     {}

// Most phases have work only if the definition is to be moved back. An unknown state is an error. The next run starts
// what was stopped.
func TestPhasesThatAreForTheMoveOnly(t *testing.T) {
	unknown := errors.New("the management cluster does not answer")
	asked := 0
	also := func(context.Context) (pipeline.Status, error) {
		asked++
		return pipeline.Status{State: pipeline.Done}, nil
	}
	for name, tc := range map[string]struct {
		world sceneWorld
		want  pipeline.State
		code  fault.Code
		asked int
	}{
		"it is to be moved back": {sceneWorld{seen: verdict{decision: moveBack}}, pipeline.Done, "", 1},
		"it is there already":    {sceneWorld{seen: verdict{decision: remove}}, pipeline.Done, "", 0},
		"it is gone":             {sceneWorld{seen: verdict{decision: sweep}}, pipeline.Done, "", 0},
		"something is stopped": {sceneWorld{seen: verdict{decision: start}}, pipeline.Pending,
			fault.ClusterUnreachable, 0},
		"nobody knows": {sceneWorld{err: unknown}, pipeline.Pending, fault.Unknown, 0},
	} {
		asked = 0
		status, err := onlyToMove(&tc.world, also)(t.Context())
		if status.State != tc.want && err == nil || asked != tc.asked || err != nil && fault.CodeOf(err) != tc.code ||
			(err != nil) != (tc.code != "") {
			t.Errorf("%s: %v, %v, asked %d times", name, status, err, asked)
		}
	}
	if status, err := onlyToMove(&sceneWorld{seen: verdict{decision: moveBack}}, nil)(
		t.Context()); status.State == pipeline.Done || err != nil {
		t.Errorf("what is to be done is done: %v, %v", status, err)
	}
}

// Other clusters in either cluster end the phase look before anything is created or taken over.
func TestTheLookNamesOtherClusters(t *testing.T) {
	shop := func() client.Object { return clusterObject("team", "shop") }
	for name, tc := range map[string]struct {
		bootstrap, management []client.Object
		others                otherClusters
		down                  bool
		err                   error
		code                  fault.Code
		done                  []string
	}{
		"none": {nil, []client.Object{clusterObject("ns", "demo")}, otherClusters{}, false, nil, "",
			[]string{"adopt", "keep the values"}},
		"in the management cluster": {nil, []client.Object{clusterObject("ns", "demo"), shop()}, otherClusters{}, false,
			nil,
			fault.CleanupRefused, nil},
		"in the bootstrap cluster": {[]client.Object{shop()}, nil, otherClusters{}, false, nil, fault.CleanupRefused,
			nil},
		"one of its name elsewhere": {nil, []client.Object{clusterObject("team", "demo")}, otherClusters{}, false, nil,
			fault.CleanupRefused, nil},
		"that are to go, and unseen": {nil, []client.Object{shop()}, otherClusters{delete: true}, false, nil,
			fault.ConfirmationRequired, nil},
		"that are to go, and seen": {nil, []client.Object{shop()},
			otherClusters{delete: true, confirmed: []string{"team/shop"}}, false, nil, "",
			[]string{"adopt", "keep the values"}},
		"that are to go, and paused": {nil,
			[]client.Object{clusterObject("team", "shop", func(c *clusterv1.Cluster) { c.Spec.Paused = ptr.To(true) })},
			otherClusters{delete: true, confirmed: []string{"team/shop"}}, false, nil, fault.CleanupRefused, nil},
		"its machines go already": {[]client.Object{clusterObject("ns", "demo")}, nil, otherClusters{}, true, nil, "",
			[]string{"end the lease of management", "adopt", "keep the values"}},
		"what there is, nobody knows": {nil, nil, otherClusters{}, false, fault.New(fault.ClusterUnreachable, "silent",
			"wait"), fault.ClusterUnreachable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := &sceneWorld{bootstrap: cluster(t, "bootstrap", tc.bootstrap...),
				management: cluster(t, "management", tc.management...), err: tc.err}
			w.o.Bootstrap.TeardownRequested = tc.down
			tc.others.scope, tc.others.environment = own, "env"
			keep := func(context.Context, clusters.Observation, pipeline.Reporter) { _ = w.note("keep the values") }
			err := look{world: w, others: tc.others, keep: keep}.run(t.Context(), silence{})
			if fault.CodeOf(err) != tc.code || !slices.Equal(w.done, tc.done) {
				t.Errorf("%v, %v", err, w.done)
			}
			if tc.code == fault.CleanupRefused && !strings.Contains(err.Error(), "team/") {
				t.Errorf("it does not name it: %v", err)
			}
		})
	}
}

// If both clusters manage others, each run names those of the management cluster first.
func TestOtherClustersAreNamedInOneOrder(t *testing.T) {
	for range 20 {
		o := clusters.Observation{
			Bootstrap:  clusters.BootstrapSide{Cluster: cluster(t, "bootstrap", clusterObject("team", "early"))},
			Management: clusters.ManagementSide{Cluster: cluster(t, "management", clusterObject("team", "shop"))}}
		for what, err := range map[string]error{
			"none may be left": otherClusters{scope: own}.requireNone(t.Context(), o),
			"none may go": func() error {
				_, err := otherClusters{scope: own}.findDeletable(t.Context(), o)
				return err
			}()} {
			if err == nil || !strings.Contains(err.Error(), "the management cluster manages") {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

// Nothing is moved, created or deleted if the observation right before shows something else, or other clusters that
// would be lost.
func TestNothingIsDoneThatWasNotConfirmed(t *testing.T) {
	unmoved := func(context.Context, capi.MoveInput) error { return errors.New("it moves") }
	for name, tc := range map[string]struct {
		seen   decision
		others []client.Object
		err    error
		code   fault.Code
	}{
		"something else": {refuse, nil, nil, fault.Busy},
		"nobody knows": {refuse, nil, fault.New(fault.ClusterUnreachable, "silent", "wait"),
			fault.ClusterUnreachable},
		"other clusters would go": {"", []client.Object{clusterObject("team", "shop")}, nil, fault.CleanupRefused},
		"others in its namespace": {"", []client.Object{clusterObject("ns", "shop")}, nil, fault.CleanupRefused},
	} {
		t.Run(name, func(t *testing.T) {
			for phase, allows := range map[string]decision{"move-back": moveBack, "delete": remove, "cleanup": sweep} {
				decided := tc.seen
				if decided == "" {
					decided = allows
				}
				w := &sceneWorld{bootstrap: cluster(t, "bootstrap", clusterObject("ns", "demo")),
					management: cluster(t, "management", tc.others...), seen: verdict{decision: decided}, err: tc.err}
				others := otherClusters{scope: own, environment: "env"}
				err := map[string]func(context.Context, pipeline.Reporter) error{
					"move-back": moveBackPhase{world: w, others: others, scope: own, move: unmoved, now: time.Now}.run,
					"delete":    deletion{world: w, others: others, scope: own, now: time.Now}.run,
					"cleanup":   leftovers{world: w, others: others}.run,
				}[phase](t.Context(), silence{})
				if fault.CodeOf(err) != tc.code {
					t.Errorf("%s: %v", phase, err)
				}
				kept := &clusterv1.Cluster{}
				if err := w.bootstrap.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "demo"},
					kept); err != nil || len(kept.Annotations) > 0 || len(w.done) > 0 {
					t.Errorf("%s: the Cluster is %+v, %v; %v", phase, kept.Annotations, err, w.done)
				}
			}
		})
	}
}

// The marks come before the deletion. They show the next run what was begun, and Flux must not recreate the Cluster.
func TestTheClusterIsMarkedAndThenDeleted(t *testing.T) {
	w := &sceneWorld{bootstrap: cluster(t, "bootstrap", clusterObject("ns", "demo")), seen: verdict{decision: remove}}
	if err := (deletion{world: w, others: otherClusters{scope: own}, scope: own, heartbeat: time.Minute,
		now: time.Now}).run(
		t.Context(), silence{}); err != nil {
		t.Fatal(err)
	}
	release := &helmv2.HelmRelease{}
	if err := w.bootstrap.Get(t.Context(), client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName},
		release); err != nil || !release.Spec.Suspend || release.Annotations["cluster-init.io/down"] != "ns/demo" {
		t.Errorf("the release is %+v %+v, %v", release.Annotations, release.Spec.Suspend, err)
	}
	if err := w.bootstrap.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "demo"},
		&clusterv1.Cluster{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the Cluster is there: %v", err)
	}
	if !slices.Equal(w.done, []string{"end the lease of management"}) {
		t.Errorf("done: %v", w.done)
	}
}

// A mark alone shows that a run has begun. While the Cluster is not being deleted and the management cluster is silent,
// it may have new workload clusters.
func TestAMarkedClusterOfASilentManagementClusterStays(t *testing.T) {
	for name, tc := range map[string]struct {
		down, deleting bool
		management     clusters.ManagementState
		stays          bool
	}{
		"marked, and the management cluster is silent": {true, false, clusters.ManagementSilent, true},
		"it was being deleted before":                  {true, true, clusters.ManagementSilent, false},
		"no run has begun":                             {false, false, clusters.ManagementSilent, false},
		"the management cluster answers":               {true, false, clusters.ManagementEmpty, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &sceneWorld{bootstrap: cluster(t, "bootstrap", clusterObject("ns", "demo")),
				seen: verdict{decision: remove}}
			held := capi.Cluster{Object: capi.Object{Kind: "Cluster", Namespace: "ns", Name: "demo"},
				Deleting: tc.deleting}
			w.o.Bootstrap = clusters.BootstrapSide{TeardownRequested: tc.down,
				Holds: clusters.Holding{Clusters: []capi.Cluster{held}}}
			w.o.Management = clusters.ManagementSide{State: tc.management, Err: errors.New("timeout")}
			err := deletion{world: w, others: otherClusters{scope: own}, scope: own, now: time.Now}.run(t.Context(),
				silence{})
			refused := fault.CodeOf(err) == fault.ClusterUnreachable &&
				strings.Contains(err.Error(), "whether it manages other clusters is not known")
			if refused != tc.stays || !refused && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			err = w.bootstrap.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "demo"}, &clusterv1.Cluster{})
			if (err == nil) != tc.stays {
				t.Errorf("%s: the Cluster: %v", name, err)
			}
		})
	}
}

// A deletion is complete only when an observation confirms it: a failed request does not.
func TestADeletionIsOver(t *testing.T) {
	silent := fault.New(fault.ClusterUnreachable, "silent", "wait")
	for name, tc := range map[string]struct {
		world sceneWorld
		done  bool
		code  fault.Code
	}{
		"nobody holds it":   {sceneWorld{seen: verdict{decision: sweep}}, true, ""},
		"it is held":        {sceneWorld{seen: verdict{decision: remove}}, false, ""},
		"nobody knows":      {sceneWorld{seen: verdict{decision: sweep}, err: silent}, false, fault.ClusterUnreachable},
		"nobody knows more": {sceneWorld{err: silent}, false, fault.ClusterUnreachable},
	} {
		status, err := deletion{world: &tc.world}.check(t.Context())
		if (status.State == pipeline.Done) != tc.done || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v, %v", name, status, err)
		}
	}
}

// A Cluster is gone when its API server confirms it: while the list of Clusters fails, the run waits.
func TestADeletionThatNobodyCanSee(t *testing.T) {
	c := cluster(t, "bootstrap", clusterObject("ns", "demo"))
	silent := errors.New("connection refused")
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return silent },
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := clusters.Deletion{Cluster: c, Heartbeat: time.Minute, Now: time.Now}.Delete(ctx, own, silence{})
		if fault.CodeOf(err) != fault.ComponentStuck || !strings.Contains(err.Error(), silent.Error()) {
			t.Error(err)
		}
	})
}

// Workload clusters are deleted only if the definition could be moved back afterwards. Their owners in Flux are
// suspended first.
func TestWorkloadClusters(t *testing.T) {
	applied := func(c *clusterv1.Cluster) {
		c.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "shop",
			"kustomize.toolkit.fluxcd.io/namespace": "team"}
	}
	for name, tc := range map[string]struct {
		seen  decision
		unfit error
		gone  bool
	}{
		"it could be moved back": {moveBack, nil, true},
		"it could not":           {moveBack, errors.New("other versions"), false},
		"it was moved before":    {remove, errors.New("nobody asks"), true},
	} {
		t.Run(name, func(t *testing.T) {
			kustomization := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop"}}
			w := &sceneWorld{bootstrap: cluster(t, "bootstrap"),
				management: cluster(t, "management", clusterObject("ns", "demo"),
					clusterObject("team", "shop", applied), kustomization), seen: verdict{decision: tc.seen}}
			phase := workloadClusters{world: w, others: otherClusters{scope: own, delete: true,
				confirmed: []string{"team/shop"}},
				deletion: func(c *kube.Cluster) clusters.Deletion {
					return clusters.Deletion{Cluster: c, Heartbeat: time.Minute,
						Now: time.Now}
				},
				checkMove: func(context.Context, clusters.Side, clusters.Side, clusters.Scope) error {
					return tc.unfit
				}}
			if err := phase.run(t.Context(), silence{}); (err == nil) != tc.gone {
				t.Fatal(err)
			}
			read := func(o client.Object, namespace, name string) bool {
				err := w.management.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o)
				if client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				return err == nil
			}
			self := &clusterv1.Cluster{}
			if there := read(&clusterv1.Cluster{}, "team", "shop"); there == tc.gone || !read(self, "ns", "demo") {
				t.Errorf("the workload cluster is there: %t", there)
			}
			if read(kustomization, "team", "shop"); kustomization.Spec.Suspend != tc.gone ||
				(self.Annotations["cluster-init.io/down"] != "") != tc.gone {
				t.Errorf("suspended %t, marked %v", kustomization.Spec.Suspend, self.Annotations)
			}
		})
	}
}

// The management cluster is kept while the deletion of a workload cluster fails.
func TestAWorkloadClusterThatStays(t *testing.T) {
	held := clusterObject("team", "shop", func(c *clusterv1.Cluster) { c.Finalizers = []string{"example.com/stays"} })
	w := &sceneWorld{management: cluster(t, "management", held), seen: verdict{decision: remove}}
	phase := workloadClusters{world: w,
		others: otherClusters{scope: own, delete: true, confirmed: []string{"team/shop"}},
		deletion: func(c *kube.Cluster) clusters.Deletion {
			return clusters.Deletion{Cluster: c, Heartbeat: time.Minute, Now: time.Now}
		}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := phase.run(ctx, silence{}); fault.CodeOf(err) != fault.ComponentStuck {
			t.Errorf("%v", err)
		}
	})
}

// A run that waits for a deletion reports what that waits for, and that it continues by itself.
func TestADeletionThatTakesLong(t *testing.T) {
	held := clusterObject("ns", "demo", func(c *clusterv1.Cluster) { c.Finalizers = []string{"example.com/stays"} })
	c := cluster(t, "bootstrap", held)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := clusters.Deletion{Cluster: c, Heartbeat: time.Minute, Now: time.Now}.Delete(ctx, own, silence{})
	if fault.CodeOf(err) != fault.ComponentStuck || !fault.CanRetry(err) ||
		!strings.Contains(err.Error(), "Cluster ns/demo is not gone yet, it waits for") {
		t.Error(err)
	}
}

// A bootstrap cluster that answers is reused. None is created if the decision was not confirmed.
func TestTheBootstrapClusterAndItsProviders(t *testing.T) {
	silent := fault.New(fault.ClusterUnreachable, "silent", "wait")
	if err := (bootstrapCluster{world: &makerWorld{sceneWorld{err: silent}}}).run(t.Context(), silence{}); fault.CodeOf(
		err) != fault.ClusterUnreachable {
		t.Errorf("it is made: %v", err)
	}
	for _, phase := range []func(context.Context, pipeline.Reporter) error{
		providers{world: &sceneWorld{seen: verdict{decision: remove}}}.run, bootstrapFlux{world: &sceneWorld{}}.run,
	} {
		if err := phase(t.Context(), silence{}); err == nil {
			t.Error("something is installed")
		}
	}
	begun := &sceneWorld{bootstrap: cluster(t, "bootstrap"), seen: verdict{decision: moveBack}}
	begun.o.Bootstrap.State = clusters.BootstrapPaused
	if err := (providers{world: begun}).run(t.Context(), silence{}); err != nil {
		t.Errorf("the move back was begun: %v", err)
	}
}

type makerWorld struct{ sceneWorld }

func (*makerWorld) APIServerAddress() string                                { return "" }
func (*makerWorld) ReachedAt() string                                       { return "" }
func (*makerWorld) AdoptBootstrap(context.Context, pipeline.Reporter) error { return nil }

// anywhere is a provider without kinds of its own.
type anywhere struct{ provider.Provider }

func (anywhere) Kinds() []schema.GroupVersionResource { return nil }

// A shell completes --phase-timeout by these names.
func TestThePhasesHaveTheseNames(t *testing.T) {
	run := New(Options{Environment: &environment.Environment{}}, clusters.Parts{Provider: anywhere{}})
	var names []string
	for _, p := range run.Phases() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, PhaseNames()) {
		t.Errorf("%q, want %q", names, PhaseNames())
	}
}
