package up

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// ResumePhases returns the phases that only finish an interrupted pivot, in order.
func (u *Run) ResumePhases() []pipeline.Phase {
	look := begunPivot{decider: u.decider, environment: u.Environment.Argument()}
	move := u.pivotMove()
	return []pipeline.Phase{
		{Name: "look", Title: "look for a pivot that was interrupted", Timeout: 10 * time.Minute, Looks: true,
			Run: look.run},
		{Name: "pivot", Title: "pivot", Timeout: 10 * time.Minute, Check: move.check, Run: move.run},
	}
}

func (u *Run) pivotMove() pivotMove {
	return pivotMove{world: u.decider, scope: u.Scope, folder: u.StateFolder, options: u.Options, move: capi.Move,
		now: u.decider.Now}
}

// begunPivot finds a pivot that was begun or is finished, and refuses if there is none: only `up` creates what is
// missing before a pivot.
type begunPivot struct {
	decider     *decider
	environment string
}

func (b begunPivot) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := b.decider.AskEngine(ctx); err != nil {
		return err
	}
	o, v, err := b.decider.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	if !slices.Contains([]decision{begun, finish, pivoted}, v.decision) {
		return fault.New(fault.PivotRefused, fmt.Sprintf("no pivot was begun that could be resumed: %s", v.reason),
			"Run cluster-init up "+b.environment+": it makes what is missing, and pivots.")
	}
	if err := leftByRollback(o, v, b.environment); err != nil {
		return err
	}
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	report.Progress("%s", v.reason)
	return b.decider.UseAndSave(o)
}

// leftByRollback refuses to resume a move that a rollback or a `down` began. It suspended Flux in the management
// cluster to move the definition out. Moving the definition in would begin a pivot, and resume none.
func leftByRollback(o clusters.Observation, v verdict, environment string) error {
	if !o.Management.Suspended || v.decision == pivoted {
		return nil
	}
	return fault.New(fault.PivotRefused, "no pivot was interrupted that could be resumed: a move of the definition "+
		"out of the management cluster was",
		"Run cluster-init pivot rollback "+environment+" to finish that move, or cluster-init up "+environment+
			" to move the definition into the management cluster again.")
}
