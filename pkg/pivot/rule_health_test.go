package pivot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// A target that would not act on its objects is refused. Transient findings, and findings that block nothing, do not
// lead to a refusal.
func TestATargetThatCannotActIsRefused(t *testing.T) {
	finding := func(id string, severity readiness.Severity, transient, certain bool) readiness.Finding {
		return readiness.Finding{ID: id, Object: health.Ref{Kind: "Lease", Namespace: "capi-system", Name: "l"},
			Cause: "nobody leads", Remedy: "see why", Severity: severity, Transient: transient, Certain: certain}
	}
	for name, row := range map[string]struct {
		finding readiness.Finding
		refused bool
	}{
		"nobody leads":                {finding("lease-not-renewed", readiness.Blocking, false, true), true},
		"nobody leads yet":            {finding("lease-not-renewed", readiness.Blocking, true, true), false},
		"nobody may lead":             {finding("lease-not-renewed", readiness.Blocking, false, false), false},
		"a certificate ends soon":     {finding("expires-soon", readiness.Warning, false, true), false},
		"something else is suspended": {finding("suspended", readiness.Blocking, false, true), false},
	} {
		got := refusalsOf([]readiness.Finding{row.finding})
		if (len(got) == 1) != row.refused {
			t.Errorf("%s: %v", name, got)
		}
		if len(got) == 1 && (got[0].Rule != RuleHealth ||
			!strings.Contains(got[0].Error(), "Lease/capi-system/l: the target cannot act: nobody leads") ||
			got[0].Remedy == "") {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

// A controller that starts again with its machine gets time to take its Lease; one that never does gets 3 minutes.
func TestThePivotWaitsForControllersThatStart(t *testing.T) {
	lease := &Refusal{Rule: RuleHealth, Object: "Lease/a", Reason: "not renewed"}
	other := &Refusal{Rule: RuleHealth, Object: "Lease/b", Reason: "not renewed"}
	unreachable := errors.New("unreachable")
	for name, row := range map[string]struct {
		checks [][]*Refusal // the last one stays
		err    error        // of the check after them
		took   time.Duration
		said   []string
	}{
		"acts at once": {checks: [][]*Refusal{{}}},
		"acts soon": {checks: [][]*Refusal{{lease}, {lease}, {other}, {}}, took: 15 * time.Second,
			said: []string{lease.Error(), other.Error()}},
		"never acts": {checks: [][]*Refusal{{lease}}, took: 3 * time.Minute, said: []string{lease.Error()}},
		"cannot be asked": {checks: [][]*Refusal{{lease}}, err: unreachable, took: 5 * time.Second,
			said: []string{lease.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, said, start := 0, []string(nil), time.Now()
				awaitNoRefusal(t.Context(), func(context.Context) ([]*Refusal, error) {
					asked++
					if row.err != nil && asked > len(row.checks) {
						return nil, row.err
					}
					return row.checks[min(asked, len(row.checks))-1], nil
				}, func(what string) { said = append(said, what) })
				if took := time.Since(start); took != row.took || !slices.Equal(said, row.said) {
					t.Errorf("waited %s and said %q, want %s and %q", took, said, row.took, row.said)
				}
			})
		})
	}
}
