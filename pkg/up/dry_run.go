package up

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Step is a phase that a run has not begun, and what it would do.
type Step struct {
	Phase, Title string
	Does         string // what it would do, for people
	Done         bool   // there is nothing to do
	Seen         string // why there is nothing to do
	Unknown      error  // why it is not known whether there is something to do
}

// DryRun checks as Check does, and reports what each later phase would do now. If a check finds a problem, there are no
// steps: a run would stop before them. DryRun acquires no lease, starts nothing and changes nothing.
func (u *Run) DryRun(ctx context.Context) ([]Finding, []Step, error) {
	found := u.Check(ctx)
	if ErrOf(found) != nil {
		return found, nil, nil
	}
	var steps []Step
	pending, createsBootstrap := false, false
	for _, p := range u.Phases() {
		if p.Looks {
			continue
		}
		if ctx.Err() != nil {
			return found, steps, context.Cause(ctx)
		}
		s := stepOf(ctx, p, pending)
		var err error
		if s.Does, err = p.Does(); err != nil {
			return found, steps, fmt.Errorf("say what phase %s does: %w", p.Name, err)
		}
		switch {
		case p.Name == PhaseBootstrapCluster:
			createsBootstrap = !s.Done
		case p.Name == PhaseBootstrapRemoval && createsBootstrap && !u.keepsBootstrap():
			// The cluster is absent only until this run creates it.
			s.Done, s.Seen = false, ""
		}
		pending = pending || !s.Done
		steps = append(steps, s)
	}
	return found, steps, nil
}

// stepOf checks whether a phase has something to do. It has if it needs a cluster that an earlier phase still has to
// create.
func stepOf(ctx context.Context, p pipeline.Phase, pending bool) Step {
	s := Step{Phase: p.Name, Title: p.Title}
	if p.Check == nil {
		return s
	}
	if p.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, p.Timeout)
		defer cancel()
		ctx = bounded
	}
	status, err := p.Check(ctx)
	switch {
	case err != nil && !(pending && errors.Is(err, clusters.ErrNotConnected)):
		s.Unknown = err
	case err == nil && status.State == pipeline.Done:
		s.Done, s.Seen = true, status.Message
	}
	return s
}
