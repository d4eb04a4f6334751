package cli

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/status"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// diagnosisPause is the interval of diagnoses and health checks with status --watch. Causes change less often than
// states.
const diagnosisPause = 30 * time.Second

// diagnosedStatus observes an environment and diagnoses objects that are not ready.
type diagnosedStatus struct {
	run    *up.Run
	world  *clusters.World
	lacks  error // why only the names of the environment are known; nil if all of it is
	causes []status.Cause
	failed string    // why the last diagnosis is not complete
	as     time.Time // time of the last diagnosis
	// profile is cluster.security_profile; empty if the values are not known.
	profile benchmark.Profile
	health  status.Health
	seenAt  time.Time // time of the last health check
}

// look returns the status. It reuses recent causes.
func (d *diagnosedStatus) look(ctx context.Context) status.Report {
	report := status.Look(ctx, d.run, d.lacks, d.healthOf)
	if !report.Diagnosable() {
		return report
	}
	if time.Since(d.as) >= diagnosisPause {
		d.failed = ""
		if err := d.diagnose(ctx); err != nil {
			d.failed = "why it is not ready: " + err.Error()
		}
	}
	if d.failed != "" {
		report.Unknown = append(report.Unknown, d.failed)
	}
	return report.Because(d.causes)
}

// healthOf checks whether a cluster can act. It reuses a recent result.
func (d *diagnosedStatus) healthOf(ctx context.Context, c *kube.Cluster) status.Health {
	if time.Since(d.seenAt) >= diagnosisPause {
		d.health, d.seenAt = status.HealthOf(ctx, c, d.world.Registry(), d.profile), time.Now()
	}
	return d.health
}

// diagnose replaces the known causes, also if it fails.
func (d *diagnosedStatus) diagnose(ctx context.Context) error {
	found, err := diagnose.Confirmed(ctx, d.world)
	d.causes, d.as = causesOf(found), time.Now()
	return err
}

func causesOf(found diagnose.Report) []status.Cause {
	var causes []status.Cause
	for _, f := range found.Findings {
		causes = append(causes, status.Cause{Cluster: f.Cluster, Object: f.Object, Cause: f.Cause, Remedy: f.Remedy,
			Lasting: f.Lasting()})
	}
	return causes
}
