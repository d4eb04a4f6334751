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

// diagnosisPause is the interval of diagnoses with status --watch. Causes change less often than states.
const diagnosisPause = 30 * time.Second

// sureAfter is the time between two diagnoses that confirm a cause. A single one may catch a transient state.
const sureAfter = 10 * time.Second

// diagnosedStatus observes an environment and diagnoses objects that are not ready.
type diagnosedStatus struct {
	run    *up.Run
	world  *clusters.World
	lacks  error // why only the names of the environment are known; nil if all of it is
	causes []status.Cause
	as     time.Time // time of the last diagnosis
	health status.Health
	seenAt time.Time // time of the last health check
}

// look returns the status. It reuses recent causes.
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

// healthOf checks whether a cluster can act. It reuses a recent result.
func (d *diagnosedStatus) healthOf(ctx context.Context, c *kube.Cluster) status.Health {
	if time.Since(d.seenAt) >= diagnosisPause {
		d.health, d.seenAt = status.HealthOf(ctx, c, d.world.Registry()), time.Now()
	}
	return d.health
}

// diagnose finds causes. A cause lasts only if a second diagnosis confirms it.
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

// inBoth returns the later causes. A cause lasts only if it is in both lists.
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
