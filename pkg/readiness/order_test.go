package readiness

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// The checks of a cluster answer in any order. What a person reads has the same order in each run.
func TestFindingsHaveOneOrder(t *testing.T) {
	want := ""
	for range 20 {
		o := healthy(t)
		for _, name := range []string{"a", "b", "c"} {
			o.add(t, `[{apiVersion: v1, kind: Namespace, metadata: {name: `+name+`, deletionTimestamp: `+
				`"2026-01-01T11:50:00Z"}, status: {phase: Terminating}}]`)
			o.Missing = append(o.Missing, Applied{health.Ref{Kind: "ConfigMap", Namespace: "flux-system", Name: name},
				health.Ref{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system",
					Name: "capi"}})
			o.Expiries = append(o.Expiries, Expiry{Object: ref("Machine/default/" + name), What: "x",
				At: noon.Add(-time.Hour)})
		}
		rand.Shuffle(len(o.Objects), func(i, j int) { o.Objects[i], o.Objects[j] = o.Objects[j], o.Objects[i] })
		rand.Shuffle(len(o.Missing), func(i, j int) { o.Missing[i], o.Missing[j] = o.Missing[j], o.Missing[i] })
		rand.Shuffle(len(o.Expiries), func(i, j int) { o.Expiries[i], o.Expiries[j] = o.Expiries[j], o.Expiries[i] })
		o.sort()
		var found []string
		for _, f := range Judge(o) {
			found = append(found, f.ID+" "+f.Object.String())
		}
		got := strings.Join(found, "\n")
		if want == "" {
			want = got
		}
		if got != want || len(found) != 9 {
			t.Fatalf("found\n%s\nand before\n%s", got, want)
		}
	}
}
