package pivot_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// swapped is a client that becomes another one.
type swapped struct{ client.Client }

// A provider that restarts at the moment of the pivot, and a Machine whose node is late, delay the run and do not end
// it. For a reason that time does not remove, the run ends at once.
func TestThePivotWaitsForWhatPasses(t *testing.T) {
	const patience = 2 * time.Minute
	down := fixture.Set("Deployment", "capd-controller-manager", int64(0), "status", "availableReplicas")
	for name, row := range map[string]struct {
		spoil func(r *rehearsal)
		stays bool   // it does not pass
		said  string // what the run waits for; "" for nothing
		code  fault.Code
	}{
		"nothing": {},
		"a provider at the source": {spoil: func(r *rehearsal) { r.Source.Client = source(down).client(t) },
			said: "provider infrastructure-docker: not ready at the source"},
		"a provider on the target": {spoil: func(r *rehearsal) { r.Target.Client = target(down).client(t) },
			said: "provider infrastructure-docker: not ready on the target"},
		"a Machine": {spoil: func(r *rehearsal) {
			r.Source.Client = source(fixture.Unset("Machine", "mgmt-md-1-b", "status", "nodeRef")).client(t)
		}, said: "no node"},
		"a health check that nothing owns yet": {spoil: func(r *rehearsal) {
			r.Source.Client = source(fixture.Unset("MachineHealthCheck", "mgmt-md", "metadata",
				"ownerReferences")).client(t)
		}, said: "MachineHealthCheck management/mgmt-md: would be left behind: its Cluster does not own it yet"},
		"a provider that stays so": {spoil: func(r *rehearsal) { r.Source.Client = source(down).client(t) }, stays: true,
			said: "provider infrastructure-docker: not ready at the source", code: fault.PivotRefused},
		"a provider, and a Cluster that a person has paused": {spoil: func(r *rehearsal) {
			r.Source.Client = source(down, byHand).client(t)
		}, code: fault.PivotRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rehearse(t)
				r.Patience = patience
				well := [2]client.Client{r.Source.Client, r.Target.Client}
				if row.spoil != nil {
					row.spoil(r)
				}
				here, there := &swapped{r.Source.Client}, &swapped{r.Target.Client}
				r.Source.Client, r.Target.Client = here, there
				var said []string
				r.Waiting = func(what string) {
					said = append(said, what)
					if !row.stays {
						here.Client, there.Client = well[0], well[1]
					}
				}
				began := time.Now()
				_, err := pivot.Run(t.Context(), r.Input)
				took, most := time.Since(began), 10*time.Second
				if row.stays {
					most = patience + 10*time.Second
				}
				waited := row.said != ""
				if fault.CodeOf(err) != row.code || took > most || waited != (took > 0) || waited != (len(said) == 1) ||
					!strings.Contains(strings.Join(said, " "), row.said) || row.stays && took < patience {
					t.Errorf("it ended after %s with %v, and said %q", took, err, said)
				}
			})
		})
	}
}
