package up

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// observation is what `up` saw of the world at one moment. Nothing changes it: who needs to know more looks again. What could not be
// asked is a state of its own, with the error, and never "not there".
type observation struct {
	bootstrap  bootstrapSide
	management managementSide
	machines   []provider.Machine
	// machinesErr is why nobody knows which machines exist; provider.ErrCannotAsk when nobody can be asked.
	machinesErr error
}

// bootstrapSide is what was seen of the bootstrap cluster.
type bootstrapSide struct {
	state bootstrapState
	err   error // of bootstrapSilent and bootstrapForeign
	// cure of bootstrapSilent, where it is known what makes it answer.
	cure string
	// The rest is set when it answers.
	cluster *kube.Cluster
	holds   pivot.Holding
	// suspended is whether Flux in it is suspended for a pivot of this cluster, which is the first thing that a pivot does.
	suspended bool
	// kubeconfig of the management cluster, as Cluster API keeps it there; nil while it has none.
	kubeconfig []byte
}

// bootstrapState is how the bootstrap cluster is, as far as `up` has to know.
type bootstrapState string

const (
	bootstrapAbsent     bootstrapState = "absent"
	bootstrapForeign    bootstrapState = "foreign"    // something has its name that is not ours
	bootstrapStopped    bootstrapState = "stopped"    // its container does not run
	bootstrapUnfinished bootstrapState = "unfinished" // kind was cut off while it made it, so it never held anything
	bootstrapSilent     bootstrapState = "silent"     // it is there, and what it holds is not known
	bootstrapEmpty      bootstrapState = "empty"      // it holds no Cluster, and no pivot began
	bootstrapMoved      bootstrapState = "moved"      // it holds no Cluster, and Flux is suspended for a pivot: a move took it away
	bootstrapActive     bootstrapState = "active"     // it holds the Cluster
	bootstrapPaused     bootstrapState = "paused"     // it holds the Cluster, paused
)

// managementSide is what was seen of the management cluster.
type managementSide struct {
	state managementState
	err   error  // of managementSilent and managementForeign
	named string // who names it: a file, or the bootstrap cluster
	// proven is whether what names it is this cluster's for sure, though it may not answer.
	proven bool
	// The rest is set when it answers and is ours.
	cluster *kube.Cluster
	holds   pivot.Holding
}

// managementState is how the management cluster is, as far as `up` has to know.
type managementState string

const (
	managementAbsent  managementState = "absent"  // no kubeconfig names one
	managementSilent  managementState = "silent"  // one is named, and what it holds is not known
	managementForeign managementState = "foreign" // what is named, or answers, is not this cluster
	managementEmpty   managementState = "empty"   // it is this cluster, and does not hold its own Cluster
	managementActive  managementState = "active"  // it holds its own Cluster
	managementPaused  managementState = "paused"  // it holds its own Cluster, paused
)

// bootstrapHolding names the state of a bootstrap cluster that answers.
func bootstrapHolding(own *capi.Cluster, suspended bool) bootstrapState {
	switch {
	case own != nil && own.Paused:
		return bootstrapPaused
	case own != nil:
		return bootstrapActive
	case suspended:
		return bootstrapMoved
	}
	return bootstrapEmpty
}

// managementHolding names the state of a management cluster that answers and is ours.
func managementHolding(own *capi.Cluster) managementState {
	switch {
	case own == nil:
		return managementEmpty
	case own.Paused:
		return managementPaused
	}
	return managementActive
}
