package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// checkOptions are the flags of `check`.
type checkOptions struct {
	buildOptions
	output       outputOptions
	allowChanges []string
	online       bool
	streams      Streams
}

func newCheck(streams Streams) *cobra.Command {
	o := &checkOptions{streams: streams}
	c := &cobra.Command{
		Use:   "check [ENVIRONMENT]",
		Short: "Make all checks of up, and change nothing",
		Long: `check makes the checks that up makes with the same flags before it changes something. It checks
the environment, the flags, the source, this machine, the cloud, the release files, and what an
earlier run left behind. check changes nothing and starts nothing. Where up stops at a problem,
check continues with the next check.

With --online, check also asks the registries, and the Git repositories and Helm charts of
components.

Without ENVIRONMENT, check uses the only environment that has runs of up kept on this machine.

Exit codes: 0 up can begin; otherwise the exit code of the first problem.`,
		Example: `  cluster-init check kubeadm-capo
  cluster-init check kubeadm-capd --bundle ./bundle -o json | jq -r '.checks[].problems[].hint'`,
		Args: oneOrDefault,
		RunE: withUsual(o.run),
	}
	f := c.Flags()
	o.buildOptions.flags(f, o.streams, up.PhaseNames())
	o.buildOptions.flagsOfUp(f, &o.allowChanges)
	o.output.formatFlag(f, "plain: for people; json: one document for programs")
	f.BoolVar(&o.online, "online", false, "also check that the registries serve all images, and that the Git "+
		"repositories and the Helm charts of components can be read")
	return c
}

func (o *checkOptions) run(ctx context.Context, name string) error {
	if err := o.output.known(); err != nil {
		return err
	}
	ctx, release := o.bounded(ctx)
	defer release()
	ctx, leases := lease.NewSet(ctx)
	defer leases.ReleaseAll()
	b, err := o.resolve(ctx, name, event.Tee{}, leases)
	found := o.checkInput(ctx, err)
	if err == nil {
		found[0].Seen = o.sourceSeen(b.supplies.Source)
		run := up.New(up.Options{Subject: b.subject, Environment: b.environment, Supplies: b.supplies,
			ConfirmedNew: o.newCluster,
			AllowChanges: o.allowChanges}, b.parts)
		_, err := pipeline.WithBounds(run.Phases(), b.bounds)
		found = append([]up.Finding{inputOf(err)}, run.Check(ctx)...)
		if f, ok := checkProfile(ctx, run.Environment, run.Supplies.Content); ok {
			found = append(found, f)
		}
		if o.online {
			found = append(found, o.checkImages(ctx, run.Environment, &docker.Client{}, run.Supplies),
				checkRepositories(ctx, run.Environment))
		}
	}
	report := checkReport{Type: "check", SchemaVersion: 1, Environment: name, Checks: checkLines(found)}
	if err := o.output.show(o.streams, report); err != nil {
		return err
	}
	if err := up.ErrOf(found); err != nil {
		return reportedError{err} // the report shows it
	}
	return nil
}

// checkInput returns the finding for the input, whose check returned err. If err leaves the rest unknown, it also
// checks this machine, unless --bootstrap-kubeconfig is given.
func (o *buildOptions) checkInput(ctx context.Context, err error) []up.Finding {
	found := []up.Finding{inputOf(err)}
	if err != nil && ctx.Err() == nil && o.bootstrapKubeconfig == "" {
		found = append(found, up.CheckMachine(ctx, &docker.Client{}))
	}
	return found
}

// inputOf returns the finding for the input, whose check returned err.
func inputOf(err error) up.Finding {
	return up.Finding{Title: "environment, flags and source", Problems: fault.Problems(err)}
}

// checkReport is the output of `check`. Its lists are never null.
type checkReport struct {
	Type          string      `json:"type"` // "check"
	SchemaVersion int         `json:"schemaVersion"`
	Environment   string      `json:"environment"`
	Checks        []checkLine `json:"checks"`
}

type checkLine struct {
	Title    string           `json:"title"`
	Seen     []string         `json:"seen"`
	Warnings []string         `json:"warnings"`
	Problems []*event.Failure `json:"problems"`
}

func checkLines(found []up.Finding) []checkLine {
	lines := make([]checkLine, len(found))
	for i, f := range found {
		lines[i] = newCheckLine(f)
	}
	return lines
}

func newCheckLine(f up.Finding) checkLine {
	line := checkLine{Title: f.Title, Seen: append([]string{}, f.Seen...), Warnings: append([]string{}, f.Warnings...),
		Problems: []*event.Failure{}}
	for _, problem := range f.Problems {
		line.Problems = append(line.Problems, pipeline.FailureOf(problem))
	}
	return line
}

// Print writes a paragraph for each check.
func (r checkReport) Print(out io.Writer) error {
	var b strings.Builder
	writeChecks(&b, r.Checks)
	_, err := io.WriteString(out, b.String())
	return err
}

func writeChecks(b *strings.Builder, checks []checkLine) {
	for _, c := range checks {
		sign := "✓"
		if len(c.Problems) > 0 {
			sign = "✗"
		}
		fmt.Fprintf(b, "%s %s\n", sign, c.Title)
		for _, seen := range c.Seen {
			fmt.Fprintf(b, "    %s\n", below(seen))
		}
		for _, warning := range c.Warnings {
			fmt.Fprintf(b, "  ! %s\n", below(warning))
		}
		for _, p := range c.Problems {
			writeFailure(b, p)
		}
	}
}

// below indents further lines of a text, so that foreign text cannot imitate ours.
func below(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

func writeFailure(b *strings.Builder, p *event.Failure) {
	fmt.Fprintf(b, "  error: %s\n", strings.ReplaceAll(p.Message, "\n", "\n         "))
	for _, hint := range strings.FieldsFunc(p.Hint, func(r rune) bool { return r == '\n' }) {
		fmt.Fprintf(b, "  hint:  %s\n", hint)
	}
}
