package readiness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// causes leaves out consequences. A workload that does not run explains everything that it should answer for. Without a
// living kubelet nothing answers. Of several findings of one kind about one workload's answers, one remains. No finding
// replaces one that matters more.
func causes(found []Finding, nodesSilent bool) []Finding {
	follows := map[health.Ref]int{}
	root := func(f Finding) int {
		return slices.IndexFunc(found, func(r Finding) bool {
			explains := r.ID == "kubelet-silent" && nodesSilent || r.Object == f.behind &&
				strings.HasPrefix(r.ID, "workload-")
			return explains && (r.Severity == Blocking || f.Severity != Blocking) && (r.Certain || !f.Certain)
		})
	}
	type group struct {
		id       string
		behind   health.Ref
		severity Severity
		certain  bool
	}
	first := map[group]int{}
	var kept []Finding
	for _, f := range found {
		if f.behind == (health.Ref{}) {
			kept = append(kept, f)
			continue
		}
		if root(f) >= 0 {
			follows[f.behind]++
			continue
		}
		g := group{f.ID, f.behind, f.Severity, f.Certain}
		if i, known := first[g]; known {
			kept[i].Message = joined(kept[i].Message, "also "+f.Object.String())
			continue
		}
		first[g] = len(kept)
		kept = append(kept, f)
	}
	for i, f := range kept {
		if n := follows[f.Object]; n > 0 && strings.HasPrefix(f.ID, "workload-") {
			kept[i].Message = joined(f.Message,
				fmt.Sprintf("because of this, %d webhooks, conversions or similar do not answer", n))
		}
	}
	return kept
}
