package up

import (
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// verdict is what `up` concludes from an observation.
type verdict struct {
	decision decision
	reason   string // for people: what was seen
	warning  string // for people: a risk that does not stop the run
	refusal  error  // of refuse
	// retryable reports, of refuse, that another observation may lead to another verdict.
	retryable bool
}

// warn adds a warning to those that the verdict has.
func (v *verdict) warn(warning string) {
	if v.warning != "" {
		warning = v.warning + "; " + warning
	}
	v.warning = warning
}

// decision is what `up` does next.
type decision string

const (
	fresh       decision = "fresh"   // nothing exists, or an unfinished bootstrap cluster: create a bootstrap cluster
	beforePivot decision = "go on"   // the bootstrap cluster answers, and the pivot is still to come
	begun       decision = "begun"   // a pivot was begun and has moved nothing yet: the phases before it run again
	finish      decision = "finish"  // a move was interrupted: the pivot finishes it
	pivoted     decision = "pivoted" // the management cluster holds its own definition, and no move is open
	start       decision = "start"   // something managed is stopped: start it, and observe again
	refuse      decision = "refuse"  // it is not known what to do, or it would destroy something
)

// request is what a verdict needs to know about a run.
type request struct {
	environment, cluster, namespace string
	place                           string // where the machines are
	bootstrapContainer              string // empty if the user provides the bootstrap cluster
	kubeconfig                      string // path of the management cluster's kubeconfig
	backups                         string // folder
	source, target                  clusters.Side
	confirmedNew                    bool // the user confirmed that the cluster does not exist yet
	// A command that lists what the cluster has, for a provider that cannot list machines. Empty means that there is
	// none.
	listCommand string
}

// observation adds the rules of `up` to an observation.
type observation struct{ clusters.Observation }

// judge derives a verdict from an observation. docs/design/how-it-works.md shows the rules as a table.
func judge(observed clusters.Observation, r request) verdict {
	o := observation{observed}
	switch {
	case o.Management.Installed:
		return verdict{decision: refuse, refusal: fault.New(fault.ClusterForeign, fmt.Sprintf("the management cluster "+
			"%s at %s is an existing cluster of cluster-init install", r.cluster, o.Management.Cluster.Config.Host),
			"Change it with cluster-init install "+r.environment+" --kubeconfig FILE.")}
	case o.Bootstrap.State == clusters.BootstrapForeign:
		return verdict{decision: refuse, refusal: o.Bootstrap.Err}
	case fault.CodeOf(o.MachinesErr) == fault.ClusterForeign:
		return verdict{decision: refuse, refusal: o.MachinesErr}
	case o.Bootstrap.TeardownRequested, o.Management.TeardownRequested:
		return o.teardownRequested(r)
	case o.Stopped():
		return verdict{decision: start}
	case o.Bootstrap.State == clusters.BootstrapSilent:
		return o.silentBootstrap(r)
	case o.Management.State == clusters.ManagementForeign:
		return verdict{decision: refuse, refusal: o.Management.Err}
	}
	switch o.Bootstrap.State {
	case clusters.BootstrapActive:
		return o.activeInBootstrap(r)
	case clusters.BootstrapPaused:
		return o.halfMoved(r)
	case clusters.BootstrapMoved:
		return o.moved(r)
	}
	return o.withoutDefinition(r) // clusters.BootstrapAbsent, clusters.BootstrapUnfinished, clusters.BootstrapEmpty
}

// teardownRequested refuses because a `down` was begun: `up` must not build on what is being deleted.
func (o observation) teardownRequested(r request) verdict {
	holder := r.target
	cluster := o.Management.Holds.Cluster(r.cluster)
	if o.Bootstrap.TeardownRequested {
		holder, cluster = r.source, o.Bootstrap.Holds.Cluster(r.cluster)
	}
	what, hint := "is being deleted", "Run cluster-init down "+r.environment+" to continue."
	if cluster != nil && !cluster.Deleting {
		what = "is being taken down"
		hint += " To keep it after all: " + pivot.Kubectl(holder, r.scope()) +
			" annotate clusters.cluster.x-k8s.io " + r.cluster + " " + owned.DownAnnotation +
			"-, and run the same command again."
	}
	return verdict{decision: refuse, refusal: fault.New(fault.Busy, fmt.Sprintf("Cluster %s/%s %s", r.namespace,
		r.cluster, what), hint)}
}

// activeInBootstrap judges if the Cluster is active in the bootstrap cluster. That cluster then has the whole
// definition, and is authoritative, unless the management cluster holds the Cluster too.
func (o observation) activeInBootstrap(r request) verdict {
	switch o.Management.State {
	case clusters.ManagementActive, clusters.ManagementPaused:
		return o.halfMoved(r)
	case clusters.ManagementSilent:
		if o.Bootstrap.Suspended {
			return o.silentManagement(r, "a pivot was begun, and its progress is not known")
		}
		if !o.Management.Proven {
			return o.unproven(r)
		}
		return verdict{decision: beforePivot, reason: "the bootstrap cluster holds the definition; the management " +
			"cluster does not answer yet"}
	case clusters.ManagementEmpty:
		switch {
		case o.Bootstrap.Suspended && pivot.Judge(o.Bootstrap.Holds, o.Management.Holds, r.scope()).NothingMoved():
			return verdict{decision: begun, reason: "the bootstrap cluster holds the definition; a pivot was begun, " +
				"and has moved nothing yet"}
		case o.Bootstrap.Suspended: // a move may have created something on the target before its Cluster
			return verdict{decision: finish,
				reason: "the bootstrap cluster holds the definition, and a pivot was begun"}
		}
	}
	return verdict{decision: beforePivot, reason: "the bootstrap cluster holds the definition; the pivot is ahead"}
}

// halfMoved judges if both clusters may hold objects, as package pivot does.
func (o observation) halfMoved(r request) verdict {
	managementHolds := o.Management.State == clusters.ManagementActive ||
		o.Management.State == clusters.ManagementPaused
	if !managementHolds && o.Bootstrap.Holds.OwnPausedByHand(r.scope()) {
		return pausedByHand(r)
	}
	if o.Management.State == clusters.ManagementSilent {
		return o.silentManagement(r, "a move of the definition was begun, and its progress is not known")
	}
	state := pivot.Judge(o.Bootstrap.Holds, o.Management.Holds, r.scope())
	// Otherwise a person paused the Cluster, and no pivot began.
	if state.Recovery() != nil && o.Bootstrap.Suspended && o.Management.Cluster != nil {
		return verdict{decision: finish,
			reason: fmt.Sprintf("an earlier move of the definition was interrupted (%s): it is finished", state.Stage)}
	}
	if err := state.Err(r.source, r.target, r.scope()); err != nil {
		return verdict{decision: refuse, refusal: err}
	}
	if state.Phase == pivot.Done {
		return verdict{decision: pivoted, reason: "the management cluster holds its own definition; what is left in " +
			"the bootstrap cluster is paused"}
	}
	return verdict{decision: beforePivot, reason: "the bootstrap cluster holds the definition; the pivot is ahead"}
}

// pausedByHand refuses because a person has paused the Cluster in the bootstrap cluster. A move cannot run then, and
// only a person resumes the Cluster.
func pausedByHand(r request) verdict {
	return verdict{decision: refuse, refusal: fault.New(fault.PivotRefused,
		fmt.Sprintf("Cluster %s/%s is paused in the bootstrap cluster: a person paused it, not a move",
			r.namespace, r.cluster),
		"If nobody needs it paused, resume it, and run the same command again: "+
			pivot.ResumeCommand(r.source, r.scope()))}
}

// moved judges if a move took the Cluster out of the bootstrap cluster. Nothing in it is ever resumed.
func (o observation) moved(r request) verdict {
	switch o.Management.State {
	case clusters.ManagementActive:
		if !o.Bootstrap.Holds.Empty() {
			if r.bootstrapContainer == "" { // the user's own bootstrap cluster stays, and may hold objects of others
				left := o.leftovers(r)
				return verdict{decision: pivoted, reason: "the management cluster holds its own definition",
					warning: left.refusal.Error()}
			}
			return o.leftovers(r)
		}
		return verdict{decision: pivoted, reason: "the management cluster holds its own definition, the bootstrap " +
			"cluster none"}
	case clusters.ManagementPaused:
		if v := o.halfMoved(r); v.decision == finish {
			return v
		}
		return o.pausedTarget(r)
	case clusters.ManagementSilent:
		return o.silentManagement(r, "the definition was moved into the management cluster")
	case clusters.ManagementEmpty:
		return lost(r, "a move took the definition out of the bootstrap cluster, and the management cluster does not "+
			"hold it")
	}
	return verdict{decision: refuse, refusal: fault.New(fault.ClusterUnreachable,
		fmt.Sprintf(
			"the definition of %s was moved into the management cluster, and no kubeconfig of that cluster was found",
			r.cluster),
		clusters.RecoverHint(r.environment)+
			" Then run the same command again. If it was cleaned up, and the bootstrap "+
			"cluster is your own: "+
			"delete in its namespace flux-system the HelmRelease and the Kustomizations that are suspended.")}
}

// leftovers refuses because a move left objects behind: they would be deleted with the bootstrap cluster.
func (o observation) leftovers(r request) verdict {
	var left []string
	for _, object := range o.Bootstrap.Holds.Objects {
		left = append(left, object.String())
	}
	return verdict{decision: refuse, refusal: fault.New(fault.PivotFailed,
		"the management cluster holds its own definition, and a move left these objects in the bootstrap cluster: "+
			strings.Join(left, ", "),
		"Compare them with the management cluster (kubectl --kubeconfig "+oneline.Shell(r.source.Kubeconfig)+" -n "+
			r.namespace+" get KIND NAME -o yaml). "+
			"Create there what it lacks. If another management cluster is to manage an object, move it there with "+
			"clusterctl move: it is deleted with the bootstrap cluster. When none of the rest is needed, delete its "+
			"Secrets and ConfigMaps, and run the same command again. Ask before you delete anything else: with a "+
			"Machine or an infrastructure object its server is deleted.")}
}

// withoutDefinition judges if the bootstrap cluster does not exist, was never finished, or holds no definition.
func (o observation) withoutDefinition(r request) verdict {
	switch o.Management.State {
	case clusters.ManagementActive:
		return verdict{decision: pivoted, reason: "the management cluster holds its own definition"}
	case clusters.ManagementPaused:
		return o.pausedTarget(r)
	case clusters.ManagementEmpty:
		return lost(r, fmt.Sprintf("the management cluster %s answers at %s and does not hold its own definition, and "+
			"no bootstrap cluster does",
			r.cluster, o.Management.Cluster.Config.Host))
	}
	absent := verdict{decision: fresh, reason: "nothing of it exists: a fresh start"}
	switch o.Bootstrap.State {
	case clusters.BootstrapUnfinished:
		absent.reason, absent.warning = "nothing else of it exists: the bootstrap cluster is made again",
			"the bootstrap cluster was never finished"
	case clusters.BootstrapEmpty:
		absent = verdict{decision: beforePivot, reason: "the bootstrap cluster answers, and holds no definition yet"}
	}
	return o.judgeAbsence(r, absent)
}

// pausedTarget refuses because the management cluster's own Cluster is paused, and no other cluster holds it.
func (o observation) pausedTarget(r request) verdict {
	// Objects left in the bootstrap cluster reconcile nothing.
	state := pivot.Judge(clusters.Holding{}, o.Management.Holds, r.scope())
	return verdict{decision: refuse, refusal: fault.Wrap(
		fmt.Errorf("Cluster %s/%s is paused in the management cluster: a move was interrupted at its end, or somebody "+
			"paused it", r.namespace, r.cluster),
		fault.PivotFailed, fault.HintOf(state.Err(r.source, r.target, r.scope())))}
}

func lost(r request, what string) verdict {
	return verdict{decision: refuse, refusal: fault.New(fault.PivotFailed, what+": nobody manages its machines",
		"If a pivot was made, what it moved is in the newest backup in "+r.backups+
			": clusterctl move --from-directory BACKUP/objects --to-kubeconfig "+oneline.Shell(r.kubeconfig)+
			" -n "+r.namespace+" (an encrypted one first: age -d -i KEY FILE | tar x). If the cluster is not needed: "+
			"cluster-init cleanup "+r.environment+".")}
}

func (r request) scope() clusters.Scope {
	return clusters.Scope{Namespace: r.namespace, Cluster: r.cluster}
}

func names(machines []provider.Machine) string {
	var all []string
	for _, m := range machines {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ")
}
