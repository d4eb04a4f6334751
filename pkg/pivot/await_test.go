package pivot_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// swapped is a client that becomes another one.
type swapped struct{ client.Client }

// A provider that restarts at the moment of the pivot, and a Machine whose node is late, cost time and not the run.
// What no time changes is not waited for.
func TestThePivotWaitsForWhatPasses(t *testing.T) {
	down := fixture.Set("Deployment", "capd-controller-manager", int64(0), "status", "availableReplicas")
	for name, row := range map[string]struct {
		source, target fixture.Edit
		want           string
	}{
		"a provider at the source":  {source: down, want: "provider infrastructure-docker: not ready at the source"},
		"a provider on the target":  {target: down, want: "provider infrastructure-docker: not ready on the target"},
		"a Machine":                 {source: fixture.Unset("Machine", "mgmt-md-1-b", "status", "nodeRef"), want: "no node"},
		"nothing":                   {},
		"a Cluster that is no more": {source: fixture.Unset("Cluster", "mgmt", "status")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				edited := func(edit fixture.Edit) fixture.Edit {
					return func(u *unstructured.Unstructured) {
						if edit != nil {
							edit(u)
						}
					}
				}
				from, to := sides(t, source(edited(row.source)), target(edited(row.target)))
				well, wellTarget := sides(t, source(), target())
				here, there := &swapped{from.Client}, &swapped{to.Client}
				from.Client, to.Client = here, there
				began, said := time.Now(), []string(nil)
				pivot.AwaitReady(t.Context(), from, to, scope, func(what string) {
					said = append(said, what)
					here.Client, there.Client = well.Client, wellTarget.Client
				})
				took := time.Since(began)
				if waited := row.want != ""; waited != (took > 0) || took > 10*time.Second || waited != (len(said) == 1) ||
					!strings.Contains(strings.Join(said, " "), row.want) {
					t.Errorf("waited %s, and said %q", took, said)
				}
			})
		})
	}
}
