package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Outlook is what was seen of an environment's clusters, and what `up` would make of it.
type Outlook struct {
	clusters.Observation
	// Stage is where a run would begin: one of the constants of this package.
	Stage   Stage
	Why     string // what was seen, for people
	Refusal error  // of Refused: why a run would not begin
}

// ByItself says whether the management cluster holds its own definition, and nobody here can be asked whether there is
// a bootstrap cluster, as on a machine that has no more of it than the kubeconfig. A run would not begin there; who
// only looks sees what the management cluster says.
func (o Outlook) ByItself() bool {
	return o.Bootstrap.State == clusters.BootstrapSilent && o.Bootstrap.NotChecked &&
		o.Management.State == clusters.ManagementActive && !o.Management.Down
}

// Stage is how far an environment is.
type Stage string

// The stages of an environment.
const (
	NotThere    Stage = Stage(fresh)   // nothing of it is there, or nothing that holds anything
	BeforePivot Stage = Stage(goOn)    // the bootstrap cluster holds the definition
	PivotBegun  Stage = Stage(begun)   // a pivot was begun, and nothing was moved yet
	HalfMoved   Stage = Stage(finish)  // a move was interrupted
	SelfManaged Stage = Stage(pivoted) // the management cluster holds its own definition, and nobody else does
	Stopped     Stage = Stage(start)   // something of it is stopped
	Refused     Stage = Stage(refuse)  // it is not known, or a run would destroy something
)

// Outlook looks once, and changes nothing. What the Docker engine does not say is part of what was seen.
func (u *Run) Outlook(ctx context.Context) Outlook {
	_, _ = u.world.AskEngine(ctx)
	o := u.world.Observe(ctx)
	v := judge(o, u.world.request(o))
	return Outlook{Observation: o, Stage: Stage(v.decision), Why: v.why, Refusal: v.refusal}
}
