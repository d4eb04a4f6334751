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

// mostCauses is how many causes a run that failed tells of; the command diagnose tells all.
const mostCauses = 5

// diagnosisBound is for a run that is over its time already.
const diagnosisBound = time.Minute

// explain tells why a run has failed that waited for something in a cluster. What it cannot find out takes nothing away
// from the run's own error.
func explain(ctx context.Context, sink event.Sink, err error, looking *clusters.World) {
	waited := []fault.Code{fault.ComponentStuck, fault.Timeout, fault.ClusterUnreachable, fault.ClusterFailed}
	if ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) == fault.Timeout { // --total-timeout: nobody interrupted it
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosisBound)
		defer cancel()
		ctx = bounded
	}
	if looking == nil || ctx.Err() != nil || !slices.Contains(waited, fault.CodeOf(err)) {
		return
	}
	tell := func(kind event.Type, message string, fields map[string]string) {
		sink.Emit(event.Event{Time: time.Now(), Type: kind, Message: message, Fields: fields})
	}
	tell(event.Progress, "looking for the cause", nil)
	report, diagnosis := diagnose.Run(ctx, looking)
	if diagnosis != nil {
		tell(event.Warning, "diagnosis: "+diagnosis.Error(), nil)
	}
	for _, f := range report.Findings[:min(mostCauses, len(report.Findings))] {
		tell(event.Warning, "cause: "+f.Cause+" ("+f.Object+"); remedy: "+f.Remedy,
			map[string]string{"rule": f.Rule, "object": f.Object, "cause": f.Cause, "remedy": f.Remedy})
	}
	if left := len(report.Findings) - mostCauses; left > 0 {
		tell(event.Warning, "there are more causes: cluster-init diagnose "+looking.Argument, nil)
	}
}

// permanentCauses diagnoses beside a run that began at a time, and returns the causes that are certain and do not go
// away by themselves. What was said before the run may have been corrected for it. An error says that it could not
// look.
func permanentCauses(ctx context.Context, looking *clusters.World, began time.Time) ([]rollout.Cause, error) {
	report, err := diagnose.Run(ctx, looking)
	if err != nil {
		return nil, err
	}
	var causes []rollout.Cause
	for _, f := range report.Findings {
		if !f.Lasting() || !f.At.IsZero() && f.At.Before(began) {
			continue
		}
		delays := slices.Clone(f.Delays)
		for _, link := range f.Chain {
			delays = append(delays, link.Object)
		}
		causes = append(causes, rollout.Cause{Rule: f.Rule, Cluster: f.Cluster, Object: f.Object,
			Text: oneline.Of(f.Cause, 0), Remedy: oneline.Of(f.Remedy, 0), Delays: delays})
	}
	return causes, nil
}
