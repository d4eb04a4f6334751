package up

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Inputs says what decides how long the run takes: how many machines of which release, from which source, with which
// components, and whether an earlier run has left something, which is known once the run has looked. Runs with the same
// take about as long.
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
	if err == nil { // else the run does not come to its end, and says nothing to others
		names := make([]string, len(components))
		for i, c := range components {
			names[i] = c.Name
		}
		parts = append(parts, "components "+strings.Join(names, " "))
	}
	return strings.Join(parts, ", ")
}
