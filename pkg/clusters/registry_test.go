package clusters

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The registry is missing only if this Docker engine has the cluster's machines or the bootstrap cluster. Any other
// engine does not have it either.
func TestTheStateOfTheRegistry(t *testing.T) {
	machines := []provider.Machine{{Name: "demo-cp"}}
	for name, tc := range map[string]struct {
		registry string // status of the container; "" for none
		node     bool
		machines []provider.Machine
		want     string
		unknown  bool
	}{
		"running":                           {registry: "running", machines: machines, want: "running"},
		"stopped":                           {registry: "exited", machines: machines, want: "exited"},
		"paused":                            {registry: "paused", machines: machines, want: "paused"},
		"gone":                              {machines: machines, want: "absent"},
		"gone, next to a bootstrap cluster": {node: true, want: "absent"},
		"on another engine":                 {unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.machines = tc.machines
			if tc.registry != "" {
				m.container(registryName, tc.registry, true)
			}
			if tc.node {
				m.container(nodeName, "running", true)
			}
			got, err := m.world.Registry().State(t.Context())
			if (err != nil) != tc.unknown || err == nil && got != tc.want {
				t.Errorf("%q, %v; want %q, unknown %t", got, err, tc.want, tc.unknown)
			}
		})
	}
}
