package clusters

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Observation is what was seen of the world at one moment. Nothing changes it: who needs to know more looks again. What
// could not be asked is a state of its own, with the error, and never "not there".
type Observation struct {
	Bootstrap  BootstrapSide
	Management ManagementSide
	Machines   []provider.Machine
	// MachinesErr is why nobody knows which machines exist; provider.ErrCannotAsk when nobody can be asked.
	MachinesErr   error
	LocalEvidence LocalEvidence
}

// Stopped says whether something of ours is stopped that can be started from here.
func (o Observation) Stopped() bool {
	for _, m := range o.Machines {
		if m.Stopped {
			return true
		}
	}
	return o.Bootstrap.State == BootstrapStopped
}

// BootstrapSide is what was seen of the bootstrap cluster.
type BootstrapSide struct {
	State BootstrapState
	Err   error // of BootstrapSilent and BootstrapForeign
	// NotChecked is whether it is not even known that there is one, as nobody could be asked. Of BootstrapSilent.
	NotChecked bool
	// Remedy of BootstrapSilent, where it is known what makes it answer.
	Remedy string
	// The rest is set when it answers.
	Cluster *kube.Cluster
	Holds   Holding
	// Suspended is whether Flux in it is suspended for a pivot of this cluster, which is the first thing that a pivot
	// does.
	Suspended bool
	// Down is whether a `down` has begun to take the cluster down, or somebody has deleted it.
	Down bool
	// Kubeconfig of the management cluster, as Cluster API keeps it there; nil while it has none.
	Kubeconfig []byte
}

// BootstrapState is how the bootstrap cluster is, as far as a run has to know.
type BootstrapState string

// The states of a bootstrap cluster.
const (
	BootstrapAbsent BootstrapState = "absent"
	// something has its name that is not ours, or it holds what is not to be used
	BootstrapForeign BootstrapState = "foreign"
	BootstrapStopped BootstrapState = "stopped" // its container does not run
	// kind was interrupted while it made it, so it never held anything
	BootstrapUnfinished BootstrapState = "unfinished"
	BootstrapSilent     BootstrapState = "silent" // it is there, and what it holds is not known
	BootstrapEmpty      BootstrapState = "empty"  // it holds no Cluster, and no pivot began
	// it holds no Cluster, and Flux is suspended for a pivot: a move took it away
	BootstrapMoved  BootstrapState = "moved"
	BootstrapActive BootstrapState = "active" // it holds the Cluster
	BootstrapPaused BootstrapState = "paused" // it holds the Cluster, paused
)

// ManagementSide is what was seen of the management cluster.
type ManagementSide struct {
	State ManagementState
	Err   error    // of ManagementSilent and ManagementForeign
	Named string   // who names it: a file, or the bootstrap cluster
	Files []string // of ManagementSilent: all files that name it
	// Proven is whether what names it is this cluster's for sure, though it may not answer.
	Proven bool
	// Answered is whether it has answered to this run before and was proven then. Of ManagementSilent.
	Answered bool
	// The rest is set when it answers and is ours.
	Cluster *kube.Cluster
	Holds   Holding
	// Suspended is whether its Flux is suspended for a move of the definition out of it.
	Suspended bool
	// Down is whether a `down` has begun to take the cluster down, or somebody has deleted it.
	Down bool
}

// ManagementState is how the management cluster is, as far as a run has to know.
type ManagementState string

// The states of a management cluster.
const (
	ManagementAbsent ManagementState = "absent" // no kubeconfig names one
	ManagementSilent ManagementState = "silent" // one is named, and what it holds is not known
	// what is named, or answers, is not this cluster, or its kubeconfig is not to be used
	ManagementForeign ManagementState = "foreign"
	ManagementEmpty   ManagementState = "empty"  // it is this cluster, and does not hold its own Cluster
	ManagementActive  ManagementState = "active" // it holds its own Cluster
	ManagementPaused  ManagementState = "paused" // it holds its own Cluster, paused
)

// bootstrapHolding names the state of a bootstrap cluster that answers.
func bootstrapHolding(own *capi.Cluster, suspended bool) BootstrapState {
	switch {
	case own != nil && own.Paused:
		return BootstrapPaused
	case own != nil:
		return BootstrapActive
	case suspended:
		return BootstrapMoved
	}
	return BootstrapEmpty
}

// managementHolding names the state of a management cluster that answers and is ours.
func managementHolding(own *capi.Cluster) ManagementState {
	switch {
	case own == nil:
		return ManagementEmpty
	case own.Paused:
		return ManagementPaused
	}
	return ManagementActive
}
