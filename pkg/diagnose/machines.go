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
	mostMachines   = 24 // that are looked into
	inspectionTime = 20 * time.Second
)

// inspectMachines adds to a snapshot what the machines say that are not ready, and the cloud says of them. It returns
// what could not be asked.
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
		return []string{"the machines themselves: " + of.Place() + " is not asked by this version"}
	case len(machines) > mostMachines:
		notChecked = append(notChecked, fmt.Sprintf("%d further machines: %d were looked into already",
			len(machines)-mostMachines, mostMachines))
		machines = machines[:mostMachines]
	}
	answers := make([]inspection, len(machines))
	var beside errgroup.Group // none fails: what has no answer is noted
	beside.SetLimit(atOnce)
	for i, r := range machines {
		beside.Go(func() error {
			answers[i] = inspect(ctx, looksInto, health.InfrastructureOf(s.objects[r]).Name)
			return nil
		})
	}
	_ = beside.Wait()
	for i, r := range machines {
		s.mergeReported(r, answers[i].said)
		if err := answers[i].err; err != nil {
			notChecked = append(notChecked, fmt.Sprintf("what %s says in %s: %v", r, of.Place(), err))
		}
	}
	return notChecked
}

// inspection is what a look into a machine had for an answer.
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

// mergeReported adds what a machine says. What the cloud says of its server belongs to the object that stands for the
// server, which is further down than the Machine.
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
				s.said[r] = append(s.said[r], Signal{From: each.From, Message: line})
			}
		}
	}
}

// fromCloud is where the cloud's own word on a server stands: of Nova, and of Neutron and Cinder.
func fromCloud() []string { return []string{"fault", "cloud"} }

// serversOf are an infrastructure machine and what stands for its server in the provider's own kinds.
func (s *Snapshot) serversOf(machine health.Ref) []health.Ref {
	list := []health.Ref{machine}
	for _, r := range s.below[machine] {
		if r.Group == machine.Group {
			list = append(list, r)
		}
	}
	return list
}
