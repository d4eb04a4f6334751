package up

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Inputs describes what decides how long the run takes: machines, release, source, components, and whether it resumes
// an earlier run. Only after the phase look is it known whether it resumes one. Runs with the same inputs take about as
// long.
func (u *Run) Inputs() string {
	spec := u.Environment.Spec().Cluster
	parts := []string{fmt.Sprintf("%d control-plane machines and %d workers of %s", spec.ControlPlane.Replicas,
		spec.Worker.Replicas, u.Environment.KubernetesVersion()),
		"source " + string(u.Source.Kind), "chart " + u.Environment.ChartVersion()}
	if u.Bundle != nil {
		parts = append(parts, "a bundle")
	}
	if u.BootstrapKubeconfig != "" {
		parts = append(parts, "a bootstrap cluster of one's own")
	}
	if u.resumes {
		parts = append(parts, "what an earlier run has left")
	}
	components, err := u.Environment.Components(environment.Management)
	if err == nil { // on an error the run does not complete, and no other run is compared with it
		names := make([]string, len(components))
		for i, c := range components {
			names[i] = c.Name
		}
		parts = append(parts, "components "+strings.Join(names, " "))
	}
	return strings.Join(parts, ", ")
}
