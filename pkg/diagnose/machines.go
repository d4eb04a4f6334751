package diagnose

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const (
	mostMachines   = 6 // that are looked into
	inspectionTime = 20 * time.Second
)

// inspectMachines adds to a snapshot what the machines say that are not ready, and the cloud says of them. It returns what could not be asked.
func (s *Snapshot) inspectMachines(ctx context.Context, of provider.Provider) (unasked []string) {
	looksInto, can := of.(provider.Inspector)
	inspected := 0
	for _, r := range s.sorted() {
		machine := s.objects[r]
		if r.Group != "cluster.x-k8s.io" || r.Kind != "Machine" || s.state(r).Status == health.Ready {
			continue
		}
		if !can {
			return []string{"the machines themselves: " + of.Place() + " is not asked by this version"}
		}
		if inspected++; inspected > mostMachines {
			return append(unasked, fmt.Sprintf("further machines: %d were looked into already", mostMachines))
		}
		if err := s.inspectMachine(ctx, looksInto, r, machine); err != nil {
			unasked = append(unasked, fmt.Sprintf("what %s says in %s: %v", r, of.Place(), err))
		}
	}
	return unasked
}

func (s *Snapshot) inspectMachine(ctx context.Context, looksInto provider.Inspector, r health.Ref, machine *unstructured.Unstructured) error {
	name, _, _ := unstructured.NestedString(machine.Object, "spec", "infrastructureRef", "name")
	if name == "" {
		return nil // it has not come that far
	}
	ctx, cancel := context.WithTimeout(ctx, inspectionTime)
	defer cancel()
	said, err := looksInto.Inspect(ctx, name)
	for _, each := range said {
		for line := range strings.Lines(each.Text) {
			if line = strings.TrimSpace(line); line != "" {
				s.said[r] = append(s.said[r], Signal{From: each.From, Message: line})
			}
		}
	}
	return err
}
