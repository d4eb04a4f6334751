package clusters

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Observation is what was observed of the clusters and machines at one moment. It never changes: to know more, observe
// again. A cluster that could not be checked has a state of its own, with the error; it is never absent.
type Observation struct {
	Bootstrap  BootstrapSide
	Management ManagementSide
	Machines   []provider.Machine
	// MachinesErr is why the machines are not known. It is provider.ErrNotSupported if the provider cannot list them.
	MachinesErr   error
	LocalEvidence LocalEvidence
}

// Stopped reports whether a managed container that can be started from here is stopped.
func (o Observation) Stopped() bool {
	for _, m := range o.Machines {
		if m.Stopped {
			return true
		}
	}
	return o.Bootstrap.State == BootstrapStopped
}

// BootstrapSide is what was observed of the bootstrap cluster.
type BootstrapSide struct {
	State BootstrapState
	Err   error // of BootstrapSilent and BootstrapForeign
	// NotChecked reports that it is not known whether the cluster exists, because the check was not possible. Set only
	// for BootstrapSilent.
	NotChecked bool
	// Remedy makes the cluster answer, if that is known. Set only for BootstrapSilent.
	Remedy string
	// The fields below are set only when the cluster answers and may be used.
	Cluster *kube.Cluster
	Holds   Holding
	// Suspended reports whether Flux in it is suspended for a pivot of this cluster. That is the first step of a pivot.
	Suspended bool
	// TeardownRequested reports whether a `down` has begun to delete the cluster, or a user has deleted it.
	TeardownRequested bool
	// Kubeconfig of the management cluster, as Cluster API keeps it there; nil while it has none.
	Kubeconfig []byte
}

// BootstrapState is the state of the bootstrap cluster, as far as a run must know it.
type BootstrapState string

// The states of a bootstrap cluster.
const (
	BootstrapAbsent BootstrapState = "absent"
	// an unmanaged resource has its name, or it holds what must not be used
	BootstrapForeign BootstrapState = "foreign"
	BootstrapStopped BootstrapState = "stopped" // its container does not run
	// kind was interrupted while it created the cluster, so it never held anything
	BootstrapUnfinished BootstrapState = "unfinished"
	BootstrapSilent     BootstrapState = "silent" // it may exist; its content is not known
	BootstrapEmpty      BootstrapState = "empty"  // it holds no Cluster, and no pivot began
	// it holds no Cluster, and Flux is suspended for a pivot: a move took the Cluster away
	BootstrapMoved  BootstrapState = "moved"
	BootstrapActive BootstrapState = "active" // it holds the Cluster
	BootstrapPaused BootstrapState = "paused" // it holds the Cluster, paused
)

// ManagementSide is what was observed of the management cluster.
type ManagementSide struct {
	State ManagementState
	Err   error    // of ManagementSilent and ManagementForeign
	Named string   // who names it: a file, or the bootstrap cluster
	Files []string // of ManagementSilent: all files that name it
	// Proven reports whether its kubeconfig is known to be this cluster's, even if it does not answer.
	Proven bool
	// Answered reports whether it answered to this run before and was proven then. Set only for ManagementSilent.
	Answered bool
	// The fields below are set only when the cluster answers and is proven.
	Cluster *kube.Cluster
	Holds   Holding
	// Installed reports whether `install` made it a management cluster: it has no Cluster of its own.
	Installed bool
	// Suspended reports whether its Flux is suspended for a move of the definition out of it.
	Suspended bool
	// TeardownRequested reports whether a `down` has begun to delete the cluster, or a user has deleted it.
	TeardownRequested bool
}

// ManagementState is the state of the management cluster, as far as a run must know it.
type ManagementState string

// The states of a management cluster.
const (
	ManagementAbsent ManagementState = "absent" // no kubeconfig names one
	ManagementSilent ManagementState = "silent" // one is named, and its content is not known
	// the named or answering cluster is another one, or its kubeconfig must not be used
	ManagementForeign ManagementState = "foreign"
	ManagementEmpty   ManagementState = "empty"  // it is this cluster, and does not hold its own Cluster
	ManagementActive  ManagementState = "active" // it holds its own Cluster
	ManagementPaused  ManagementState = "paused" // it holds its own Cluster, paused
)

// bootstrapHolding returns the state of a bootstrap cluster that answers.
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

// managementHolding returns the state of a management cluster that answers and is proven.
func managementHolding(own *capi.Cluster) ManagementState {
	switch {
	case own == nil:
		return ManagementEmpty
	case own.Paused:
		return ManagementPaused
	}
	return ManagementActive
}
