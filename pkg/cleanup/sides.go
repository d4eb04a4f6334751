package cleanup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// bootstrapOf returns what an observation of the bootstrap cluster means for the target.
func bootstrapOf(seen clusters.KindCluster, t Target) bootstrapSide {
	side := bootstrapSide{node: seen.Node, err: seen.Err}
	switch seen.State {
	case clusters.NodeRunning:
		return side.holding(seen, t)
	case clusters.NodeAbsent, clusters.NodeUnfinished: // an unfinished one never held anything
		side.state = bootstrapAbsent
	case clusters.NodeStopped:
		side.state = bootstrapStopped
	case clusters.NodePaused:
		side.state = bootstrapFrozen
	case clusters.NodeBusy:
		side.state = bootstrapBusy
	case clusters.NodeRemoving:
		side.state = bootstrapBusy
		side.err = fault.Retryable(fmt.Errorf("container %s is being removed", seen.Node), fault.Busy, "")
	default:
		side.state = bootstrapSilent
	}
	return side
}

// holding completes the side of a bootstrap cluster that answers.
func (b bootstrapSide) holding(seen clusters.KindCluster, t Target) bootstrapSide {
	b.state = bootstrapEmpty
	if seen.Suspended {
		b.state = bootstrapMoved
	}
	for _, c := range seen.Clusters {
		switch {
		case c.Namespace != t.Namespace || c.Name != t.Cluster:
			b.others = append(b.others, c.String())
			continue
		case c.Paused:
			b.state = bootstrapPaused
		default:
			b.state = bootstrapActive
		}
		b.rolledBack = owned.ManagedItself(c.Annotations) && !c.Deleting // what is being deleted is lost already
	}
	return b
}

// managementOf returns what the answers through all kubeconfigs mean for the target. A cluster that manages itself
// comes first, then a silent one unless the same cluster answered through another kubeconfig. Clusters that do not hold
// the Cluster come last. paths are the files where a kubeconfig was looked for.
func managementOf(all []clusters.Answer, paths []string, t Target) managementSide {
	if len(all) == 0 {
		return managementSide{state: managementAbsent, kubeconfigs: strings.Join(paths, ", ")}
	}
	best := managementSide{}
	for _, state := range []managementState{managementManaging, managementSilent, managementEmpty, managementUnproven} {
		for _, a := range all {
			side := sideOf(a, t)
			if side.state != state || state == managementSilent && answeredElse(a, all, t) {
				continue
			}
			if best.state == "" {
				best = side
			} else if best.state == state && state == managementSilent {
				best.kubeconfigs += ", " + side.kubeconfigs
				best.err = fmt.Errorf("%w; %w", best.err, side.err)
			}
		}
	}
	return best
}

// sideOf returns what one answer means for the target.
func sideOf(a clusters.Answer, t Target) managementSide {
	side := managementSide{state: managementUnproven, kubeconfigs: a.Path, host: a.Host, err: a.Err}
	// In any namespace: containers and files here are known only by the cluster's name.
	isTarget := func(c capi.Cluster) bool { return c.Name == t.Cluster }
	switch {
	case a.Err != nil:
		side.state = managementSilent
	case slices.ContainsFunc(a.Clusters, isTarget):
		side.state = managementManaging
	case a.Proven:
		side.state = managementEmpty
		for _, c := range a.Clusters {
			side.others = append(side.others, c.String())
		}
	}
	return side
}

// answeredElse reports whether the cluster of a silent answer answered through another kubeconfig.
func answeredElse(silent clusters.Answer, all []clusters.Answer, t Target) bool {
	return slices.ContainsFunc(all, func(a clusters.Answer) bool {
		return sideOf(a, t).state == managementEmpty && a.SameCluster(silent)
	})
}
