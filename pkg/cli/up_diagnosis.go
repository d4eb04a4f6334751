package cli

import (
	"context"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// mostCauses is how many causes a failed run prints; diagnose prints all.
const mostCauses = 5

// diagnosisBound limits a diagnosis after --total-timeout.
const diagnosisBound = time.Minute

// diagnosis diagnoses the clusters of a run.
type diagnosis struct {
	run     func(context.Context) (diagnose.Report, error)
	command string // the command that prints all causes
}

// diagnosisOf returns the diagnosis of a bootstrap and a management cluster.
func diagnosisOf(looking *clusters.World) *diagnosis {
	return &diagnosis{command: "cluster-init diagnose " + looking.Argument,
		run: func(ctx context.Context) (diagnose.Report, error) { return diagnose.Run(ctx, looking) }}
}

// explain diagnoses a failed run that waited for something in a cluster, and reports the causes. A nil diagnosis means
// that the run has not begun.
func explain(ctx context.Context, sink event.Sink, err error, diagnosis *diagnosis) {
	waited := []fault.Code{fault.ComponentStuck, fault.Timeout, fault.ClusterUnreachable, fault.ClusterFailed}
	if ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) == fault.Timeout { // --total-timeout, not an interrupt
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosisBound)
		defer cancel()
		ctx = bounded
	}
	if diagnosis == nil || ctx.Err() != nil || !slices.Contains(waited, fault.CodeOf(err)) {
		return
	}
	tell := func(kind event.Type, message string, fields map[string]string) {
		sink.Emit(event.Event{Time: time.Now(), Type: kind, Message: message, Fields: fields})
	}
	tell(event.Progress, "diagnosing the failure", nil)
	report, failed := diagnosis.run(ctx)
	if failed != nil {
		tell(event.Warning, "diagnosis: "+failed.Error(), nil)
	}
	for _, f := range report.Findings[:min(mostCauses, len(report.Findings))] {
		tell(event.Warning, "cause: "+f.Cause+" ("+f.Object+"); remedy: "+f.Remedy,
			map[string]string{"rule": f.Rule, "object": f.Object, "cause": f.Cause, "remedy": f.Remedy})
	}
	if left := len(report.Findings) - mostCauses; left > 0 {
		tell(event.Warning, "there are more causes: "+diagnosis.command, nil)
	}
}

// permanentCauses diagnoses during a run and returns the permanent causes. It ignores causes from before the run began:
// they may have been fixed since.
func (d *diagnosis) permanentCauses(ctx context.Context, began time.Time) ([]rollout.Cause, error) {
	report, err := d.run(ctx)
	if err != nil {
		return nil, err
	}
	var causes []rollout.Cause
	for _, f := range report.Permanent(began) {
		delays := slices.Clone(f.Delays)
		for _, link := range f.Chain {
			delays = append(delays, link.Object)
		}
		causes = append(causes, rollout.Cause{Rule: f.Rule, Cluster: f.Cluster, Object: f.Object,
			Text: oneline.Of(f.Cause, 0), Remedy: oneline.Of(f.Remedy, 0), Delays: delays})
	}
	return causes, nil
}
