package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Outlook is an observation of an environment's clusters, and the verdict of `up` on it.
type Outlook struct {
	clusters.Observation
	// Stage is where a run would begin: one of the constants of this package.
	Stage   Stage
	Why     string // what was seen, for people
	Refusal error  // set for Refused: why a run would not begin
}

// ByItself reports whether the management cluster holds its own definition, and it cannot be checked whether a
// bootstrap cluster exists. A machine that has only the kubeconfig is such a case. A run would not begin there, but a
// read-only command can show the management cluster.
func (o Outlook) ByItself() bool {
	return o.Bootstrap.State == clusters.BootstrapSilent && o.Bootstrap.NotChecked &&
		o.Management.State == clusters.ManagementActive && !o.Management.Down
}

// Stage is how far an environment is.
type Stage string

// The stages of an environment.
const (
	NotThere    Stage = Stage(fresh)   // nothing of it exists, or only an empty cluster
	BeforePivot Stage = Stage(goOn)    // the bootstrap cluster holds the definition
	PivotBegun  Stage = Stage(begun)   // a pivot was begun, and has moved nothing yet
	HalfMoved   Stage = Stage(finish)  // a move was interrupted
	SelfManaged Stage = Stage(pivoted) // only the management cluster holds the definition
	Stopped     Stage = Stage(start)   // something of it is stopped
	Refused     Stage = Stage(refuse)  // it is not known, or a run would destroy something
)

// Outlook observes the clusters once, and changes nothing. If the Docker engine does not answer, that is part of the
// observation.
func (u *Run) Outlook(ctx context.Context) Outlook {
	_, _ = u.world.AskEngine(ctx)
	o := u.world.Observe(ctx)
	v := judge(o, u.world.request(o))
	return Outlook{Observation: o, Stage: Stage(v.decision), Why: v.why, Refusal: v.refusal}
}
