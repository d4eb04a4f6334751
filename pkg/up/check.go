package up

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// Finding is the result of one check.
type Finding struct {
	Title    string
	Seen     []string // for people
	Warnings []string
	Problems []error // faults
}

// Check runs every check that a run does before it changes something, and continues where a run would stop. It acquires
// no lease, starts nothing and changes nothing.
func (u *Run) Check(ctx context.Context) []Finding {
	var all []Finding
	for _, p := range u.Phases() {
		switch {
		case p.Name == PhaseLook: // it starts stopped containers, and takes leases
			all = append(all, runCheck(ctx, "an earlier run", p.Timeout, u.observeEarlierRun))
		case p.Looks:
			all = append(all, runCheck(ctx, p.Title, p.Timeout, p.Run))
		}
	}
	return all
}

// CheckMachine checks only the Docker engine and its machine. It needs no environment.
func CheckMachine(ctx context.Context, engine *docker.Client) Finding {
	return runCheck(ctx, "check this machine", time.Minute, func(ctx context.Context, report pipeline.Reporter) error {
		return bootstrap.CheckMachine(ctx, engine, report)
	})
}

// runCheck runs a check within its time limit, and returns its finding.
func runCheck(ctx context.Context, title string, bound time.Duration,
	check func(context.Context, pipeline.Reporter) error) Finding {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	notes := &pipeline.Notes{}
	f := Finding{Title: title, Problems: split(check(ctx, notes))}
	f.Seen, f.Warnings = notes.Seen, notes.Warnings
	return f
}

// observeEarlierRun looks for an earlier run like the phase look. It starts nothing, acquires no lease and saves no
// kubeconfig.
func (u *Run) observeEarlierRun(ctx context.Context, report pipeline.Reporter) error {
	d := u.decider
	if _, err := d.AskEngine(ctx); err != nil {
		return err
	}
	if err := registry.CheckOurs(ctx, d.Docker, u.Environment.ClusterName()); err != nil {
		return err
	}
	o, v, err := d.Standing(ctx, d.Observe)
	switch {
	case err != nil:
		return err
	case v.decision == start:
		report.Progress("something of %s is stopped: up starts it and looks again", u.Environment.ClusterName())
		return nil
	}
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	report.Progress("%s", v.reason)
	d.Use(o)
	applied, err := changes{u.Environment, u.Source, u.AllowChanges}.check(ctx, o, v, report)
	if err == nil {
		applied, err = provider.WithAddress(ctx, d.Provider, applied, report)
	}
	if err == nil {
		u.Environment = applied
	}
	return err
}

// split returns the parts of joined problems, including those of errors.Join. An error that wraps several errors in its
// own sentence stays one problem.
func split(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fault.Problems(err)
	}
	parts := several.Unwrap()
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Error()
	}
	if err.Error() != strings.Join(texts, "\n") {
		return fault.Problems(err)
	}
	var all []error
	for _, part := range parts {
		all = slices.Concat(all, split(part))
	}
	return all
}

// ErrOf joins the problems of all checks. It returns nil if no check has found one.
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
