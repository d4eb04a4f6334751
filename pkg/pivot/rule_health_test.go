package pivot

import (
	"strings"
	"testing"

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
			got[0].Remedy == "" || !got[0].Passes) {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}
