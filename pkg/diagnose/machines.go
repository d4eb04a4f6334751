package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

const (
	maxMachines       = 24 // to inspect
	inspectionTimeout = 20 * time.Second
)

// inspectMachines adds the output of machines that are not ready to a snapshot, and what the cloud reports about them.
// cloud is nil if it is not known.
// It returns what could not be checked.
func (s *Snapshot) inspectMachines(ctx context.Context, cloud provider.Provider) (notChecked []string) {
	machines := slices.DeleteFunc(s.sorted(), func(r health.Ref) bool {
		return r.Group != "cluster.x-k8s.io" || r.Kind != "Machine" || s.state(r).Status == health.Ready ||
			s.objects[r].GetDeletionTimestamp() != nil || health.InfrastructureOf(s.objects[r]).Name == ""
	})
	inspector, can := cloud.(provider.Inspector)
	switch {
	case len(machines) == 0:
		return nil
	case cloud == nil:
		return []string{"the machines themselves: the management cluster has another infrastructure provider"}
	case !can:
		return []string{"the machines themselves: not supported in " + cloud.Place()}
	case len(machines) > maxMachines:
		notChecked = append(notChecked, fmt.Sprintf("%d more machines: only %d are inspected",
			len(machines)-maxMachines, maxMachines))
		machines = machines[:maxMachines]
	}
	answers := make([]inspection, len(machines))
	var inspections errgroup.Group // none fails: errors are part of the answers
	inspections.SetLimit(parallelInspections)
	for i, r := range machines {
		inspections.Go(func() error {
			answers[i] = inspect(ctx, inspector, health.InfrastructureOf(s.objects[r]).Name)
			return nil
		})
	}
	_ = inspections.Wait()
	for i, r := range machines {
		s.mergeReported(r, answers[i].output)
		if err := answers[i].err; err != nil {
			notChecked = append(notChecked, fmt.Sprintf("%s in %s: %v", r, cloud.Place(), err))
		}
	}
	return notChecked
}

// inspection is the result of inspecting a machine.
type inspection struct {
	output []provider.Said
	err    error
}

func inspect(ctx context.Context, inspector provider.Inspector, machine string) inspection {
	ctx, cancel := context.WithTimeout(ctx, inspectionTimeout)
	defer cancel()
	output, err := inspector.Inspect(ctx, machine)
	return inspection{output, err}
}

// mergeReported adds the output of a machine. What the cloud reports about its server, and what machineadm reports,
// also belongs to the infrastructure object for the server, which is below the Machine.
func (s *Snapshot) mergeReported(machine health.Ref, output []provider.Said) {
	servers := s.serversOf(health.InfrastructureOf(s.objects[machine]))
	if line := machineadmFailure(output); line != "" {
		for _, r := range append(servers, machine) {
			s.machineSignals[r] = append(s.machineSignals[r], Signal{Origin: originReport, Message: line})
		}
	}
	for _, part := range output {
		about := []health.Ref{machine}
		if slices.Contains(cloudOrigins, part.From) {
			about = append(about, servers...)
		}
		for line := range strings.Lines(part.Text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			for _, r := range about {
				s.machineSignals[r] = append(s.machineSignals[r], Signal{Origin: part.From, Message: line})
			}
		}
	}
}

// machineadmFailure returns the last line of machineadm if it reports a failure, else "".
func machineadmFailure(output []provider.Said) string {
	last := ""
	for _, part := range output {
		for line := range strings.Lines(part.Text) {
			if i := strings.Index(line, machineadm.LinePrefix); i >= 0 {
				last = strings.TrimSpace(line[i:])
			}
		}
	}
	if !strings.HasPrefix(last, machineadm.LinePrefix+machineadm.FailedPrefix) {
		return ""
	}
	return last
}

// cloudOrigins are the origins of signals about a server.
var cloudOrigins = []string{originFault, originCloud}

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
