package cli

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/status"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// diagnosisPause is between two diagnoses of status --watch: what a look every three seconds shows changes more often than its cause.
const diagnosisPause = 30 * time.Second

// diagnosedStatus looks at an environment, and for the causes of what is not ready.
type diagnosedStatus struct {
	run    *up.Run
	world  *world.World
	causes []status.Cause
	as     time.Time // when the causes were looked for
}

// at returns the status. now decides whether causes that were found before still count.
func (d *diagnosedStatus) at(ctx context.Context, now time.Time) status.Report {
	report := status.Look(ctx, d.run)
	if !report.Diagnosable() {
		d.causes, d.as = nil, time.Time{}
		return report
	}
	if now.Sub(d.as) >= diagnosisPause {
		found, err := diagnose.Run(ctx, d.world)
		if err != nil {
			report.Unknown = append(report.Unknown, "why it is not ready: "+err.Error())
		}
		d.causes, d.as = causesOf(found), now
	}
	return report.Because(d.causes)
}

func causesOf(found diagnose.Report) []status.Cause {
	var causes []status.Cause
	for _, f := range found.Findings {
		causes = append(causes, status.Cause{Cluster: f.Cluster, Object: f.Object, Cause: f.Cause, Cure: f.Cure, Lasting: f.Lasting()})
	}
	return causes
}
