package up

import (
	"context"
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// seenWorld is a fake world: it is pivoted, not pivoted, or not known.
type seenWorld struct {
	*decider
	seen decision
	err  error
}

func (s seenWorld) currentDecision(context.Context) (decision, error) { return s.seen, s.err }

func (s seenWorld) Connected(name string) (*kube.Cluster, error) {
	return nil, errors.New("this test has no " + name + " cluster")
}

// checks returns the checks of the phases that end with the pivot.
func checks(t *testing.T, w seenWorld) map[string]func(context.Context) (pipeline.Status, error) {
	return map[string]func(context.Context) (pipeline.Status, error){
		"bootstrap-cluster":    bootstrapCluster{world: w}.check,
		"bootstrap-flux":       fluxInstall{cluster: clusters.BootstrapName, world: w, untilPivot: true}.check,
		"management-cluster":   managementCluster{world: w}.check,
		"management-release":   managementRelease{world: w}.check,
		"management-available": managementAvailable{world: w}.check,
		"pivot": pivotMove{world: w, scope: clusters.Scope{Namespace: "ns", Cluster: "demo"},
			folder: t.TempDir()}.check,
	}
}

func TestNothingIsDoneBeforeThePivotThatIsDone(t *testing.T) {
	unknown := errors.New("the management cluster does not answer")
	for name, tc := range map[string]struct {
		world seenWorld
		want  pipeline.State
	}{
		"pivoted":      {seenWorld{seen: pivoted}, pipeline.Done},
		"interrupted":  {seenWorld{seen: finish}, pipeline.Done},
		"not pivoted":  {seenWorld{seen: beforePivot}, pipeline.Pending},
		"only begun":   {seenWorld{seen: begun}, pipeline.Pending},
		"nobody knows": {seenWorld{seen: refuse, err: unknown}, pipeline.Pending},
	} {
		for phase, check := range checks(t, tc.world) {
			status, err := check(t.Context())
			// This needs the cluster, which this test does not have.
			asksFurther := phase == "bootstrap-flux" && (name == "not pivoted" || name == "only begun")
			want := tc.want
			if phase == "pivot" && name == "interrupted" { // this phase finishes it
				want = pipeline.Pending
			}
			if status.State != want || !errors.Is(err, tc.world.err) && !asksFurther {
				t.Errorf("%s, %s: %v, %v", phase, name, status, err)
			}
		}
	}
}

// confirmingWorld records the decision that is to be confirmed, and stops there.
type confirmingWorld struct {
	seenWorld
	confirmed *decision
}

func (c confirmingWorld) confirm(_ context.Context, allows decision) (clusters.Observation, error) {
	*c.confirmed = allows
	return clusters.Observation{}, errors.New("this test applies nothing")
}

// A pivot that has moved nothing yet does not prevent new values: they may be what it waits for. A pivot that has moved
// something does.
func TestTheReleaseIsAppliedWhileNothingIsMoved(t *testing.T) {
	for seen, want := range map[decision]decision{beforePivot: beforePivot, begun: begun, finish: beforePivot} {
		var confirmed decision
		_ = managementCluster{world: confirmingWorld{seenWorld{seen: seen}, &confirmed}}.run(t.Context(), silence{})
		if confirmed != want {
			t.Errorf("%s: it is applied if the verdict is %q, want %q", seen, confirmed, want)
		}
	}
}

// Two clusters that have one definition create two control planes.
func TestTheDefinitionWaitsForThePivot(t *testing.T) {
	unknown := errors.New("the bootstrap cluster does not answer")
	if err := (definition{world: seenWorld{seen: finish}}).run(t.Context(), silence{}); fault.CodeOf(
		err) != fault.ClusterFailed || !fault.CanRetry(err) {
		t.Errorf("before the pivot: %v", err)
	}
	if err := (definition{world: seenWorld{seen: refuse, err: unknown}}).run(t.Context(), silence{}); !errors.Is(
		err, unknown) {
		t.Errorf("nobody knows: %v", err)
	}
}

// silence is a reporter that drops everything.
type silence struct{}

func (silence) Progress(string, ...any)        {}
func (silence) Warn(string, ...any)            {}
func (silence) Object(event.Object)            {}
func (silence) Waiting(string, []event.Object) {}
func (silence) Log(string)                     {}
