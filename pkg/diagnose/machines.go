package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const (
	mostMachines   = 24 // to inspect
	inspectionTime = 20 * time.Second
)

// inspectMachines adds the output of machines that are not ready to a snapshot, and what the cloud reports about them.
// It returns what could not be checked.
func (s *Snapshot) inspectMachines(ctx context.Context, of provider.Provider) (notChecked []string) {
	machines := slices.DeleteFunc(s.sorted(), func(r health.Ref) bool {
		return r.Group != "cluster.x-k8s.io" || r.Kind != "Machine" || s.state(r).Status == health.Ready ||
			s.objects[r].GetDeletionTimestamp() != nil || health.InfrastructureOf(s.objects[r]).Name == ""
	})
	looksInto, can := of.(provider.Inspector)
	switch {
	case len(machines) == 0:
		return nil
	case !can:
		return []string{"the machines themselves: not supported in " + of.Place()}
	case len(machines) > mostMachines:
		notChecked = append(notChecked, fmt.Sprintf("%d more machines: only %d are inspected",
			len(machines)-mostMachines, mostMachines))
		machines = machines[:mostMachines]
	}
	answers := make([]inspection, len(machines))
	var inspections errgroup.Group // none fails: errors are part of the answers
	inspections.SetLimit(atOnce)
	for i, r := range machines {
		inspections.Go(func() error {
			answers[i] = inspect(ctx, looksInto, health.InfrastructureOf(s.objects[r]).Name)
			return nil
		})
	}
	_ = inspections.Wait()
	for i, r := range machines {
		s.mergeReported(r, answers[i].said)
		if err := answers[i].err; err != nil {
			notChecked = append(notChecked, fmt.Sprintf("%s in %s: %v", r, of.Place(), err))
		}
	}
	return notChecked
}

// inspection is the result of inspecting a machine.
type inspection struct {
	said []provider.Said
	err  error
}

func inspect(ctx context.Context, looksInto provider.Inspector, machine string) inspection {
	ctx, cancel := context.WithTimeout(ctx, inspectionTime)
	defer cancel()
	said, err := looksInto.Inspect(ctx, machine)
	return inspection{said, err}
}

// mergeReported adds the output of a machine. What the cloud reports about its server also belongs to the
// infrastructure object for the server, which is below the Machine.
func (s *Snapshot) mergeReported(machine health.Ref, said []provider.Said) {
	for _, each := range said {
		about := []health.Ref{machine}
		if slices.Contains(fromCloud(), each.From) {
			about = append(about, s.serversOf(health.InfrastructureOf(s.objects[machine]))...)
		}
		for line := range strings.Lines(each.Text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			for _, r := range about {
				s.machineSignals[r] = append(s.machineSignals[r], Signal{Origin: each.From, Message: line})
			}
		}
	}
}

// fromCloud lists the signals that come from the cloud: fault is Nova's, cloud is Neutron's and Cinder's.
func fromCloud() []string { return []string{"fault", "cloud"} }

// serversOf returns an infrastructure machine and the provider's objects for its server.
func (s *Snapshot) serversOf(machine health.Ref) []health.Ref {
	list := []health.Ref{machine}
	for _, r := range s.below[machine] {
		if r.Group == machine.Group {
			list = append(list, r)
		}
	}
	return list
}
