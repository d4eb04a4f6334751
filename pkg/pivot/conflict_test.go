package pivot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// Where no interrupted move explains what both sides hold, a run writes nothing, whatever this machine has a backup of:
// nothing is resumed while the other side could act, and nothing is deleted.
func TestRunOnAConflictTouchesNothing(t *testing.T) {
	for name, row := range map[string]struct{ from, to side }{
		"some deleted, source resumed": {holding(firstOf(5)), holding(everything(), paused)},
		"half deleted, half copied": {holding(firstOf(5), paused),
			holding(append(firstOf(1), everything()[6:]...), paused)},
		"some copied, beside a paused tenant": {holding(everything(), paused),
			holding(append(firstOf(5), tenant()), paused, tenantPaused)},
		"both active":                {holding(everything()), holding(everything())},
		"some copied, target active": {holding(everything(), paused), holding(firstOf(5))},
		"some deleted, both active":  {holding(firstOf(5)), holding(everything())},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			endUnseen(t, r) // its backup is the one of the interrupted move
			from, to := sides(t, row.from, row.to)
			r.Source, r.Target = unwritable(t, from.Client, nil), unwritable(t, to.Client, nil)
			r.flux.stands, r.flux.suspended, r.flux.resumed = true, 0, 0
			r.Move = func(context.Context, capi.MoveInput) error {
				t.Error("it moves")
				return errors.New("it moves")
			}
			_, err := pivot.Run(t.Context(), r.Input)
			state, stateErr := pivot.ReadState(t.Context(), r.Source, r.Target, scope)
			if stateErr != nil || state.Stage != pivot.StageConflict || state.Recovery() != nil {
				t.Fatalf("it is no conflict but %s %s, %v", state.Phase, state.Stage, stateErr)
			}
			if fault.CodeOf(err) != fault.PivotFailed || fault.HintOf(err) == "" {
				t.Errorf("it says %v, with the hint %q", err, fault.HintOf(err))
			}
			if r.flux.suspended+r.flux.resumed > 0 {
				t.Error("Flux was suspended or resumed")
			}
		})
	}
}
