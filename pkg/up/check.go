package up

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// Finding is what one check has found.
type Finding struct {
	Title    string
	Seen     []string // in words for people
	Warnings []string
	Problems []error // faults
}

// Check looks at all that a run looks at before it changes something, and goes on where a run would stop. It takes no lease, starts nothing and changes
// nothing.
func (u *Run) Check(ctx context.Context) []Finding {
	preflight, notes := u.Phases()[0], &pipeline.Notes{}
	machine := Finding{Title: preflight.Title, Problems: apart(preflight.Run(ctx, notes))}
	machine.Seen, machine.Warnings = notes.Seen, notes.Warnings
	return []Finding{machine, u.checkEarlier(ctx)}
}

// checkEarlier looks for an earlier run as the phase look does.
func (u *Run) checkEarlier(ctx context.Context) Finding {
	notes := &pipeline.Notes{}
	f := Finding{Title: "an earlier run", Problems: apart(u.lookEarlier(ctx, notes))}
	f.Seen, f.Warnings = notes.Seen, notes.Warnings
	return f
}

func (u *Run) lookEarlier(ctx context.Context, report pipeline.Reporter) error {
	w := u.world
	if _, err := w.AskEngine(ctx); err != nil {
		return err
	}
	if err := registry.CheckOurs(ctx, w.Docker, u.Environment.ClusterName()); err != nil {
		return err
	}
	o, v, err := w.judgeUntil(ctx, w.Observe, func(_ world.Observation, v verdict) (done, again bool) { return v.decision != refuse, v.again })
	switch {
	case err != nil:
		return err
	case v.decision == refuse:
		return v.refusal
	case v.decision == start:
		report.Progress("something of %s is stopped: up starts it and looks again", u.Environment.ClusterName())
		return nil
	}
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	report.Progress("%s", v.why)
	return changes{u.Environment, u.Source, u.AllowChanges}.check(ctx, o, v, report)
}

// apart takes joined problems apart.
func apart(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, each := range several.Unwrap() {
			all = append(all, apart(each)...)
		}
		return all
	}
	return fault.Problems(err)
}

// ErrOf is nil when no check has found a problem, else all of them joined.
func ErrOf(all []Finding) error {
	var problems []error
	for _, f := range all {
		problems = append(problems, f.Problems...)
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}
