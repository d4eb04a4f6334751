package cleanup

// observation is what was seen of who could still need a cluster's things, or would put them back. Nothing changes it:
// who needs to know more looks again. What could not be asked is a state of its own, with the error, and never "not
// there".
type observation struct {
	bootstrap  bootstrapSide
	management managementSide
	// unleased is why it is not known of a cluster that answers whether another run works on it.
	unleased error
	machines []string // that exist, running or not
	// machinesErr is why nobody knows which machines exist, where they could be listed.
	machinesErr error
	backup      string // folder with what a pivot moved; empty: there is none
	backupErr   error
}

// bootstrapSide is what was seen of the bootstrap cluster.
type bootstrapSide struct {
	state bootstrapState
	err   error  // of bootstrapSilent and bootstrapBusy
	node  string // its container
	// others are the Clusters that it holds besides the one that is cleaned up.
	others []string
	// rolledBack is whether the Cluster that it holds managed itself before: a rollback has brought it here, and no
	// build.
	rolledBack bool
}

// bootstrapState is how the bootstrap cluster is, as far as cleanup has to know.
type bootstrapState string

const (
	bootstrapAbsent  bootstrapState = "absent"  // it is not there, or was never finished: then it never held anything
	bootstrapStopped bootstrapState = "stopped" // its container does not run
	bootstrapFrozen  bootstrapState = "frozen"  // its container is paused
	bootstrapSilent  bootstrapState = "silent"  // it is there, and what it holds is not known
	bootstrapBusy    bootstrapState = "busy"    // another run works on it
	bootstrapEmpty   bootstrapState = "empty"   // it does not hold the Cluster, and no pivot was begun
	bootstrapMoved   bootstrapState = "moved"   // it does not hold the Cluster, and Flux is suspended for a pivot
	bootstrapActive  bootstrapState = "active"  // it holds the Cluster
	bootstrapPaused  bootstrapState = "paused"  // it holds the Cluster, paused: a move was begun
)

// managementSide is what was seen of the management cluster.
type managementSide struct {
	state managementState
	err   error  // of managementSilent and managementBusy
	named string // the kubeconfigs that name it, or the places where there is none
	host  string // where it answers
	// others are the Clusters that it holds besides its own. Of managementEmpty.
	others []string
}

// managementState is how the management cluster is, as far as cleanup has to know.
type managementState string

const (
	managementAbsent   managementState = "absent"   // no kubeconfig names one
	managementSilent   managementState = "silent"   // one is named, and what it holds is not known
	managementBusy     managementState = "busy"     // it is this cluster, and another run works on it
	managementUnproven managementState = "unproven" // one answers, does not hold the Cluster, and may be any cluster
	managementEmpty    managementState = "empty"    // it is this cluster, and does not hold its own Cluster
	managementManaging managementState = "managing" // it holds the Cluster
)

// definition is whether the bootstrap cluster holds the cluster's definition.
func (b bootstrapSide) definition() bool {
	return b.state == bootstrapActive || b.state == bootstrapPaused
}
