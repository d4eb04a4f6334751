package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Outlook is an observation of an environment's clusters, and the verdict of `up` on it.
type Outlook struct {
	clusters.Observation
	// Stage is where a run would begin: one of the constants of this package.
	Stage   Stage
	Why     string // what was seen, for people
	Refusal error  // set for Refused: why a run would not begin
}

// SelfManagedBootstrapNotChecked reports that the management cluster holds its definition and that the bootstrap
// cluster could not be checked. A machine that has only the kubeconfig is such a case. A run would not begin there, but
// a read-only command can show the management cluster.
func (o Outlook) SelfManagedBootstrapNotChecked() bool {
	return o.Bootstrap.State == clusters.BootstrapSilent && o.Bootstrap.NotChecked &&
		o.Management.State == clusters.ManagementActive && !o.Management.TeardownRequested
}

// Holder returns the cluster that holds the definition, or that will hold it first: the management cluster if it alone
// holds an active definition or was installed, else the bootstrap cluster. Nil if that one does not answer.
func (o Outlook) Holder() *kube.Cluster {
	if o.Stage == SelfManaged || o.Management.Installed ||
		o.Management.State == clusters.ManagementActive && o.Bootstrap.State != clusters.BootstrapActive {
		return o.Management.Cluster
	}
	return o.Bootstrap.Cluster
}

// Stage is the progress of an environment.
type Stage string

// The stages of an environment.
const (
	NotThere    Stage = Stage(fresh)       // nothing of it exists, or only an unfinished bootstrap cluster
	BeforePivot Stage = Stage(beforePivot) // the bootstrap cluster holds the definition, or nothing yet
	PivotBegun  Stage = Stage(begun)       // a pivot was begun, and has moved nothing yet
	HalfMoved   Stage = Stage(finish)      // a move was interrupted
	SelfManaged Stage = Stage(pivoted)     // the management cluster holds its own definition
	Stopped     Stage = Stage(start)       // something of it is stopped
	Refused     Stage = Stage(refuse)      // the state is not known, or a run would destroy something
)

// Observe observes the clusters once, and changes nothing. If the Docker engine does not answer, that is part of the
// observation.
func (u *Run) Observe(ctx context.Context) Outlook {
	_, _ = u.decider.AskEngine(ctx)
	o := u.decider.Observe(ctx)
	v := judge(o, u.decider.request(o))
	return Outlook{Observation: o, Stage: Stage(v.decision), Why: v.reason, Refusal: v.refusal}
}
