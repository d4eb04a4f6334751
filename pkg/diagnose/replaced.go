package diagnose

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// replaced returns the finding about an object below a machine that a health check will replace. Its cause goes away
// with the machine.
func (s *Snapshot) replaced(f Finding, chain []health.Ref) Finding {
	machine := s.machineOf(chain)
	if machine == nil || f.Transient {
		return f
	}
	for _, u := range s.objects {
		if u.GetKind() == "MachineHealthCheck" && health.Replaces(u, machine) {
			f.Transient = true
			f.Remedy = "the health check " + u.GetName() + " replaces the machine " + machine.GetName() +
				". Or: " + f.Remedy
			return f
		}
	}
	return f
}

// machineOf returns the last Machine of a chain; nil if there is none.
func (s *Snapshot) machineOf(chain []health.Ref) *unstructured.Unstructured {
	for _, r := range slices.Backward(chain) {
		if r.Group == "cluster.x-k8s.io" && r.Kind == "Machine" {
			return s.objects[r]
		}
	}
	return nil
}
