package rollout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Kustomizations that only wait are as little ready as those that fail, and say so in the same condition.
func TestSaysTellsAFailureFromAWait(t *testing.T) {
	for reason, want := range map[string]bool{
		"BuildFailed": true, "ReconciliationFailed": true, "HealthCheckFailed": true, "ArtifactFailed": true,
		"PruneFailed":        true,
		"DependencyNotReady": false, "Progressing": false, "ProgressingWithRetry": false, "": false,
	} {
		if got := says(health.State{Status: health.Progressing, Reason: reason}); got != want {
			t.Errorf("not ready, reason %q: it says what fails: %t, want %t", reason, got, want)
		}
		if says(health.State{Status: health.Ready, Reason: reason}) {
			t.Errorf("ready, reason %q: it fails", reason)
		}
		if !says(health.State{Status: health.Failed, Reason: reason}) {
			t.Errorf("gave up, reason %q: it does not fail", reason)
		}
	}
	for _, status := range []string{health.Suspended, health.Deleting} {
		if says(health.State{Status: status}) {
			t.Errorf("%s: it fails", status)
		}
	}
}

// What fails in the other cluster may be mended meanwhile, and the other cluster may be gone.
func TestWhatFailsElsewhereIsForgottenWithTheNextLook(t *testing.T) {
	broken := event.Object{Cluster: "bootstrap", Kind: "Kustomization", Name: "cloud-provider",
		State: health.Progressing, Message: "its own message"}
	v, ear := newView("management", wanted("a")), newEar()
	looks := []struct {
		found []event.Object
		err   error
		first string
	}{
		{found: []event.Object{broken}, first: "cloud-provider"},
		{first: "a"},
		{found: []event.Object{broken}, first: "cloud-provider"},
		{err: errors.New("connection refused"), first: "a"},
	}
	for i, look := range looks {
		f := Follower{elsewhere: func(ctx context.Context) ([]event.Object, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the look has no bound, and no event is taken meanwhile")
			}
			return look.found, look.err
		}}
		f.lookElsewhere(t.Context(), v, ear)
		if blocked := v.blocked(); blocked[0].Name != look.first {
			t.Errorf("look %d: %v is named first, want %s", i, blocked[0], look.first)
		}
		if look.err != nil && !ear.logged(look.err.Error()) {
			t.Errorf("look %d: it does not report that this is unknown: %v", i, look.err)
		}
	}
}

// A wait that ends while it looks still says what it knew.
func TestAWaitThatEndsWithinALookNamesWhatFailsElsewhere(t *testing.T) {
	v, ear := newView("management", wanted("a")), newEar()
	v.elsewhere = []event.Object{{Cluster: "bootstrap", Kind: "Kustomization", Name: "cloud-provider",
		State: health.Progressing, Message: "its own message"}}
	ctx, end := context.WithCancel(t.Context())
	Follower{elsewhere: func(ctx context.Context) ([]event.Object, error) {
		end()
		return nil,
			ctx.Err()
	}}.lookElsewhere(ctx, v, ear)
	if err := v.unfinished(context.DeadlineExceeded); !strings.Contains(err.Error(),
		"not ready: Kustomization/cloud-provider in the bootstrap cluster is Progressing: its own message") {
		t.Errorf("the error is %v", err)
	}
}

// What a component holds that Flux cannot apply is missed by others, which do not know why they wait.
func TestWhatCannotBeAppliedIsNamedFirst(t *testing.T) {
	reason := func(r string) func(map[string]any) {
		return func(o map[string]any) {
			o["status"].(map[string]any)["conditions"] = []any{map[string]any{
				"type": "Ready", "status": "False", "reason": r, "message": "the message of " + r,
				"observedGeneration": int64(2)}}
		}
	}
	goals := Goal{What: "the management cluster", Ready: append([]Key{{"Cluster", "management", "c"}},
		wanted("cluster", "cloud-provider", "cni").Ready...)}
	for name, tc := range map[string]struct {
		goal                  Goal
		reason, first, second string
	}{
		"of the goals": {goals, "ReconciliationFailed", "cloud-provider", "c"},
		"where no goal waits": {Goal{Until: func(context.Context) bool { return false }}, "BuildFailed",
			"cloud-provider", "c"},
		"it is applied, and waits": {goals, "HealthCheckFailed", "c", "cloud-provider"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView("bootstrap", tc.goal)
			v.take(kube.Change{Object: cluster(3, 1, 1, 1)})
			v.take(kube.Change{Object: kustomization("cluster", ofTheRelease, ready("True", 2))})
			v.take(kube.Change{Object: kustomization("cloud-provider", ofTheRelease, reason(tc.reason))})
			v.take(kube.Change{Object: kustomization("cni", ofTheRelease, dependsOn("cloud-provider"),
				ready("False", 2))})
			var names []string
			for _, o := range v.blocked() {
				names = append(names, o.Name)
			}
			if want := []string{tc.first, tc.second, "cni"}; !slices.Equal(names, want) {
				t.Errorf("named in the order %v, want %v", names, want)
			}
			if err := v.unfinished(context.DeadlineExceeded); tc.first == "cloud-provider" &&
				!strings.Contains(err.Error(),
					"not ready: Kustomization/cloud-provider is Progressing: the message of "+tc.reason) {
				t.Errorf("the error names something else first: %v", err)
			}
		})
	}
}
