package diagnose

import (
	"context"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// confirmAfter is the time between two diagnoses that confirm a cause. A single one may catch a transient state.
const confirmAfter = 10 * time.Second

// Confirmed diagnoses as Run does, and once more if a cause is permanent. In its result, a cause is permanent only if
// both diagnoses have found it. If the first one fails, its result is returned as it is.
func Confirmed(ctx context.Context, world *clusters.World) (Report, error) {
	first, err := Run(ctx, world)
	if err != nil || !slices.ContainsFunc(first.Findings, Finding.Lasting) {
		return first, err
	}
	timer := time.NewTimer(confirmAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		first.Findings = confirm(nil, first.Findings)
		return first, ctx.Err()
	case <-timer.C:
	}
	second, err := Run(ctx, world)
	second.Findings = confirm(first.Findings, second.Findings)
	return second, err
}

// confirm returns the later findings. One is permanent only if it is in both lists.
func confirm(earlier, later []Finding) []Finding {
	for i, f := range later {
		later[i].unconfirmed = !slices.ContainsFunc(earlier, func(e Finding) bool {
			return e.Lasting() && e.Object == f.Object && e.Cluster == f.Cluster && e.Remedy == f.Remedy
		})
	}
	return later
}

// Permanent returns the permanent causes. It omits causes with a time before began: they may have been fixed since.
func (r Report) Permanent(began time.Time) []Finding {
	var permanent []Finding
	for _, f := range r.Findings {
		if f.Lasting() && (f.At.IsZero() || !f.At.Before(began)) {
			permanent = append(permanent, f)
		}
	}
	return permanent
}
