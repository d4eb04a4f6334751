package diagnose

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// The report names a missing registry once for both clusters, and as a permanent cause also while a run builds them.
func TestAMissingRegistryIsSaidOnce(t *testing.T) {
	gone := readiness.Probe{Kind: readiness.RegistryRuns, Object: health.Ref{Kind: "Container", Name: "demo-registry"},
		Message: readiness.RegistryAbsent}
	c := Case{Type: caseType, SchemaVersion: schemaVersion, Environment: "demo"}
	for _, name := range []string{"bootstrap", "management"} {
		seen := readiness.Observation{Cluster: name, Probes: []readiness.Probe{gone}}
		c.Clusters = append(c.Clusters, Seen{Observation: seen, Building: true})
	}
	r, err := c.Report()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "registry-missing" || !r.Findings[0].Lasting() {
		t.Errorf("%+v", r.Findings)
	}
}
