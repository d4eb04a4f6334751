package cli

import (
	"context"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/status"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// diagnosisPause is between two diagnoses of status --watch: what a look every three seconds shows changes more often
// than its cause.
const diagnosisPause = 30 * time.Second

// sureAfter is between the two looks that make one sure of a cause: one may be between two steps of a controller.
const sureAfter = 10 * time.Second

// diagnosedStatus looks at an environment, and for the causes of what is not ready.
type diagnosedStatus struct {
	run    *up.Run
	world  *clusters.World
	lacks  error // why no more of the environment is known than its names; nil: all is
	causes []status.Cause
	as     time.Time // when the causes were looked for
	health status.Health
	seenAt time.Time // when the health was looked at
}

// look returns the status. Causes that were found a short while ago still count.
func (d *diagnosedStatus) look(ctx context.Context) status.Report {
	report := status.Look(ctx, d.run, d.lacks, d.healthOf)
	if !report.Diagnosable() {
		return report
	}
	if time.Since(d.as) >= diagnosisPause {
		if err := d.diagnose(ctx); err != nil {
			report.Unknown = append(report.Unknown, "why it is not ready: "+err.Error())
		}
	}
	return report.Because(d.causes)
}

// healthOf looks whether a cluster can act. An answer of a short while ago still counts.
func (d *diagnosedStatus) healthOf(ctx context.Context, c *kube.Cluster) status.Health {
	if time.Since(d.seenAt) >= diagnosisPause {
		d.health, d.seenAt = status.HealthOf(ctx, c, d.world.Registry()), time.Now()
	}
	return d.health
}

// diagnose looks for causes, and a second time where one would last, which it does only if both looks have found it.
func (d *diagnosedStatus) diagnose(ctx context.Context) error {
	found, err := diagnose.Run(ctx, d.world)
	first := causesOf(found)
	lasts := func(c status.Cause) bool { return c.Lasting }
	if err == nil && slices.ContainsFunc(first, lasts) {
		timer := time.NewTimer(sureAfter)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			found, err = diagnose.Run(ctx, d.world)
		}
	}
	d.causes, d.as = inBoth(first, causesOf(found)), time.Now()
	return err
}

// inBoth returns the later causes, of which those last that lasted before, too.
func inBoth(earlier, later []status.Cause) []status.Cause {
	for i, c := range later {
		later[i].Lasting = c.Lasting && slices.ContainsFunc(earlier, func(e status.Cause) bool {
			return e.Lasting && e.Object == c.Object && e.Cluster == c.Cluster && e.Remedy == c.Remedy
		})
	}
	return later
}

func causesOf(found diagnose.Report) []status.Cause {
	var causes []status.Cause
	for _, f := range found.Findings {
		causes = append(causes, status.Cause{Cluster: f.Cluster, Object: f.Object, Cause: f.Cause, Remedy: f.Remedy,
			Lasting: f.Lasting()})
	}
	return causes
}
