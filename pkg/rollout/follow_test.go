package rollout

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ear is a Reporter that keeps what it hears; objects also go into a channel, for tests that wait for one.
type ear struct {
	objects chan event.Object

	mu    sync.Mutex
	lines []string
	waits [][]event.Object
}

func newEar() *ear { return &ear{objects: make(chan event.Object, 1000)} }

func (e *ear) Progress(string, ...any) {}
func (e *ear) Warn(string, ...any)     {}

func (e *ear) Object(o event.Object) { e.objects <- o }

func (e *ear) Waiting(_ string, blocked []event.Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits = append(e.waits, blocked)
}

func (e *ear) Log(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
}

func (e *ear) logged(part string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.lines, func(line string) bool { return strings.Contains(line, part) })
}

// A wait whose end and whose watch's end are seen at the same time has not reached its goal, whichever is drawn first.
func TestAnEndedWatchIsNoSuccess(t *testing.T) {
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		watchDone := make(chan error, 1)
		watchDone <- nil
		f := Follower{heartbeat: time.Hour}
		if err := f.loop(ctx, newView("bootstrap", wanted("a")), make(chan kube.Change), nil, watchDone,
			newEar()); err == nil {
			t.Fatal("no error, though nothing is ready")
		}
	}
}

// What the user has suspended elsewhere is no reason to give up.
func TestViewMindsOnlyWhatItWaitsFor(t *testing.T) {
	elsewhere := func(o map[string]any) { o["metadata"].(map[string]any)["namespace"] = "apps" }
	source := func(o map[string]any) { o["kind"], o["apiVersion"] = "OCIRepository", "source.toolkit.fluxcd.io/v1" }
	git := func(o map[string]any) { o["kind"], o["apiVersion"] = "GitRepository", "source.toolkit.fluxcd.io/v1" }
	helm := func(o map[string]any) { o["kind"], o["apiVersion"] = "HelmRelease", "helm.toolkit.fluxcd.io/v2" }
	released := func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"helm.toolkit.fluxcd.io/name": "telco-cloud-init",
			"helm.toolkit.fluxcd.io/namespace": "flux-system"}
	}
	tests := map[string]struct {
		object        *unstructured.Unstructured
		unrecoverable bool
	}{
		"a Kustomization that is no goal":    {kustomization("own", suspended), false},
		"a goal":                             {kustomization("a", suspended), true},
		"one of a goal's name elsewhere":     {kustomization("a", suspended, elsewhere), false},
		"a source that is no goal":           {kustomization("telco-cloud-init", suspended, source), true},
		"a source in another namespace":      {kustomization("podinfo", suspended, source, elsewhere), false},
		"a user's source that is no goal":    {kustomization("podinfo", suspended, source), false},
		"a source that the release has made": {kustomization("mine", suspended, source, released), true},
		"a goal that gave up":                {kustomization("a", stalled), true},
		"another Kustomization that gave up": {kustomization("own", stalled), false},

		"a user's Kustomization elsewhere that gave up": {kustomization("own", stalled, elsewhere), false},
		"a user's Kustomization elsewhere":              {kustomization("own", suspended, elsewhere), false},
		"a user's HelmRelease":                          {kustomization("podinfo", suspended, helm), false},
		"a user's HelmRelease that gave up":             {kustomization("podinfo", stalled, helm), false},
		"a HelmRelease elsewhere":                       {kustomization("podinfo", suspended, helm, elsewhere), false},
		"a HelmRelease elsewhere that gave up":          {kustomization("podinfo", stalled, helm, elsewhere), false},
		"a HelmRelease of our name elsewhere": {kustomization("telco-cloud-init", stalled, helm, elsewhere),
			false},
		"our HelmRelease":                        {kustomization("telco-cloud-init", suspended, helm), true},
		"our HelmRelease that gave up":           {kustomization("telco-cloud-init", stalled, helm), true},
		"a user's GitRepository":                 {kustomization("podinfo", suspended, git), false},
		"a user's GitRepository that gave up":    {kustomization("podinfo", stalled, git), false},
		"a GitRepository elsewhere":              {kustomization("podinfo", suspended, git, elsewhere), false},
		"a GitRepository elsewhere that gave up": {kustomization("podinfo", stalled, git, elsewhere), false},
		"a GitRepository of our name elsewhere": {kustomization("telco-cloud-init", stalled, git, elsewhere),
			false},
		"our GitRepository":                       {kustomization("telco-cloud-init", suspended, git), true},
		"our GitRepository that gave up":          {kustomization("telco-cloud-init", stalled, git), true},
		"a user's OCIRepository that gave up":     {kustomization("podinfo", stalled, source), false},
		"an OCIRepository elsewhere that gave up": {kustomization("podinfo", stalled, source, elsewhere), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView("management", wanted("a"))
			v.take(kube.Change{Object: tc.object})
			if err := v.unrecoverable(); (err != nil) != tc.unrecoverable {
				t.Errorf("error %v, want one: %t", err, tc.unrecoverable)
			}
			for i, state := range slices.Collect(maps.Values(v.states)) {
				if remark := v.noteUnmanaged(state); (remark != "") == tc.unrecoverable {
					t.Errorf("remark %d: %q", i, remark)
				}
				if again := v.noteUnmanaged(state); again != "" {
					t.Errorf("it is said twice: %q", again)
				}
			}
		})
	}
}

// Phase management-cluster leaves components out of its goal, as they need the management cluster that it waits for.
// One that has given up will not make it, whatever else is ready.
func TestAComponentThatIsLeftOutAndGaveUpIsHopeless(t *testing.T) {
	released := func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"helm.toolkit.fluxcd.io/name": "telco-cloud-init",
			"helm.toolkit.fluxcd.io/namespace": "flux-system"}
	}
	attempted := func(o map[string]any) { o["status"].(map[string]any)["lastAttemptedRevision"] = "latest@sha256:old" }
	unknown := func(context.Context) (map[Key]string, error) { return nil, nil }
	tests := map[string]struct {
		object        *unstructured.Unstructured
		made          func(context.Context) (map[Key]string, error)
		unrecoverable bool
	}{
		"it gave up": {object: kustomization("cluster", stalled, released),
			unrecoverable: true},
		"it failed and is tried again":            {object: kustomization("cluster", ready("False", 2), released)},
		"suspended by a user":                     {object: kustomization("cluster", suspended, released)},
		"the HelmRelease may yet change it":       {object: kustomization("cluster", stalled, released), made: unknown},
		"it gave up on an older revision":         {object: kustomization("cluster", stalled, released, attempted)},
		"one that the release has not made":       {object: kustomization("cluster", stalled)},
		"it gave up before its spec was replaced": {object: kustomization("cluster", olderStalled, released)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView("bootstrap", Goal{Ready: wanted("a").Ready, Made: tc.made, Revision: "sha256:new"})
			v.take(kube.Change{Object: tc.object})
			err := v.unrecoverable()
			if (err != nil) != tc.unrecoverable {
				t.Fatalf("error %v, want one: %t", err, tc.unrecoverable)
			}
			if err != nil && (fault.CodeOf(err) != fault.ComponentStuck ||
				!strings.Contains(err.Error(), "Kustomization/cluster in the bootstrap cluster has given up: InvalidPath: "+
					"there is no such path")) {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
		})
	}
}

// olderStalled says that it gave up on the spec that it had before.
func olderStalled(o map[string]any) {
	stalled(o)
	o["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["observedGeneration"] = int64(1)
}

// Only what gave up on the revision that is waited for is unrecoverable.
func TestViewHoldsAFailureAgainstTheRevision(t *testing.T) {
	attempted := func(r string) func(map[string]any) {
		return func(o map[string]any) { o["status"].(map[string]any)["lastAttemptedRevision"] = r }
	}
	tests := map[string]struct {
		object        *unstructured.Unstructured
		unrecoverable bool
	}{
		"before it attempted any": {kustomization("a", stalled), true},
		"on the present one": {kustomization("a", stalled, attempted("latest@sha256:new"),
			revision("latest@sha256:old")), true},
		"on an older one": {kustomization("a", stalled, attempted("latest@sha256:old")), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := wanted("a")
			g.Revision = "sha256:new"
			v := newView("bootstrap", g)
			v.take(kube.Change{Object: tc.object})
			if err := v.unrecoverable(); (err != nil) != tc.unrecoverable || err != nil &&
				!strings.Contains(err.Error(), "there is no such path") {
				t.Errorf("error %v, want one with its own message: %t", err, tc.unrecoverable)
			}
		})
	}
}
