package cleanup

// observation is what was observed of the clusters that may still need the resources, or would recreate them. A failed
// check is a state of its own, with the error, and never counts as absent.
type observation struct {
	bootstrap  bootstrapSide
	management managementSide
	// leaseErr says why the leases could not be checked.
	leaseErr error
	// serving is the registry that an existing cluster reads from, since `install` made it a management cluster.
	serving  string
	machines []string // machines that exist, running or not
	// machinesErr says why the list of machines is incomplete.
	machinesErr error
	backup      string // folder with what a pivot moved; empty if there is none
	backupErr   error
}

// bootstrapSide is what was observed of the bootstrap cluster.
type bootstrapSide struct {
	state bootstrapState
	err   error  // of bootstrapSilent and bootstrapBusy
	node  string // its container
	// others are the Clusters that it holds, without the one that is cleaned up.
	others []string
	// rolledBack reports whether its Cluster managed itself before, and is not being deleted: then a rollback has moved
	// it here.
	rolledBack bool
}

// holdsDefinition reports whether the bootstrap cluster holds the cluster's definition.
func (b bootstrapSide) holdsDefinition() bool {
	return b.state == bootstrapActive || b.state == bootstrapPaused
}

// bootstrapState is the state of the bootstrap cluster, as far as cleanup needs it.
type bootstrapState string

const (
	bootstrapAbsent  bootstrapState = "absent"  // it does not exist, or kind never finished it
	bootstrapStopped bootstrapState = "stopped" // its container does not run
	bootstrapFrozen  bootstrapState = "frozen"  // its container is paused
	bootstrapSilent  bootstrapState = "silent"  // it exists, and its content is not known
	bootstrapBusy    bootstrapState = "busy"    // another run works on it, or its container is being removed
	bootstrapEmpty   bootstrapState = "empty"   // it does not hold the Cluster, and no pivot was begun
	bootstrapMoved   bootstrapState = "moved"   // it does not hold the Cluster, and Flux is suspended for a pivot
	bootstrapActive  bootstrapState = "active"  // it holds the Cluster
	bootstrapPaused  bootstrapState = "paused"  // it holds the Cluster, paused: a move was begun
)

// managementSide is what was observed of the management cluster.
type managementSide struct {
	state managementState
	err   error // of managementSilent and managementBusy
	// kubeconfigs are the paths of its kubeconfigs; if none exists, the searched paths.
	kubeconfigs string
	host        string // the address where it answers
	// others are the Clusters that it holds, without its own. Set for managementEmpty.
	others []string
}

// managementState is the state of the management cluster, as far as cleanup needs it.
type managementState string

const (
	managementAbsent   managementState = "absent"   // no kubeconfig names one
	managementSilent   managementState = "silent"   // one is named, and its content is not known
	managementBusy     managementState = "busy"     // it is this cluster, and another run works on it
	managementUnproven managementState = "unproven" // one answers, does not hold the Cluster, and may be any cluster
	managementEmpty    managementState = "empty"    // it is this cluster, and does not hold its own Cluster
	managementManaging managementState = "managing" // it holds a Cluster of this name
)
