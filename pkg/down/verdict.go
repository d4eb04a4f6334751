package down

import (
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// verdict is what `down` concludes from an observation.
type verdict struct {
	decision decision
	reason   string // for people: what was seen
	refusal  error  // of refuse
	// retryable reports, of refuse, that another observation may lead to another verdict.
	retryable bool
}

// decision is what `down` does next.
type decision string

const (
	// the management cluster holds its definition, or a part of it: move it into a bootstrap cluster
	moveBack decision = "move back"
	remove   decision = "delete" // the bootstrap cluster holds the definition: delete the Cluster there
	sweep    decision = "sweep"  // no cluster holds it, and no machine of it is known: delete the leftovers
	start    decision = "start"  // something managed is stopped: start it, and observe again
	refuse   decision = "refuse" // it is not known what to do, or it would lose something
)

// request is what a verdict needs to know about a run.
type request struct {
	environment, cluster, namespace string
	place                           string // where the machines are
	bootstrap, management           clusters.Side
}

func (r request) scope() clusters.Scope {
	return clusters.Scope{Namespace: r.namespace, Cluster: r.cluster}
}

// observation adds the rules of `down` to an observation.
type observation struct{ clusters.Observation }

// judge derives a verdict from an observation. docs/design/down.md shows the rules as a table.
func judge(observed clusters.Observation, r request) verdict {
	o := observation{observed}
	switch {
	case o.Management.Installed:
		return refused(fault.New(fault.ClusterForeign, fmt.Sprintf("the management cluster %s at %s is an existing "+
			"cluster of cluster-init install, and has no machines of its own", r.cluster,
			o.Management.Cluster.Config.Host),
			"Delete the clusters that it manages with cluster-init workload delete. To remove what install made: "+
				"cluster-init uninstall "+r.environment+" --kubeconfig FILE."))
	case o.Bootstrap.State == clusters.BootstrapForeign:
		return refused(o.Bootstrap.Err)
	case fault.CodeOf(o.MachinesErr) == fault.ClusterForeign:
		return refused(o.MachinesErr)
	case o.Management.State == clusters.ManagementForeign:
		return refused(o.Management.Err)
	case o.Stopped() && !o.Bootstrap.TeardownRequested: // machines that are being deleted stop before they go
		return verdict{decision: start}
	case o.Bootstrap.State == clusters.BootstrapSilent && o.Bootstrap.Remedy != "":
		return silent(fmt.Errorf("the bootstrap cluster exists, and its content is not known: %w", o.Bootstrap.Err),
			nil, o.Bootstrap.Remedy)
	case o.Bootstrap.State == clusters.BootstrapSilent:
		return silent(fmt.Errorf("the bootstrap cluster exists, and its content is not known: %w", o.Bootstrap.Err),
			o.Bootstrap.Err,
			"Make it answer, and run the same command again: it may hold the only definition of the cluster.")
	}
	switch o.Bootstrap.State {
	case clusters.BootstrapActive:
		return o.inBootstrap(r)
	case clusters.BootstrapPaused:
		return o.between(r)
	}
	return o.inManagement(r)
}

// inBootstrap judges if the Cluster is active in the bootstrap cluster. That cluster can delete it, unless the
// management cluster may act on it too.
func (o observation) inBootstrap(r request) verdict {
	gone := verdict{decision: remove,
		reason: "the bootstrap cluster holds the definition: the Cluster is deleted there"}
	switch {
	case o.Bootstrap.TeardownRequested: // deletion.run checks for workload clusters
		return gone
	case o.Management.State == clusters.ManagementActive, o.Management.State == clusters.ManagementPaused:
		return o.between(r)
	case o.Management.State == clusters.ManagementSilent && o.Bootstrap.Suspended:
		return o.silentManagement(r, "a pivot into it was begun, and its progress is not known")
	case o.Management.Cluster == nil && owned.ManagedItself(o.Bootstrap.Holds.Cluster(r.cluster).Annotations):
		return o.silentManagement(
			r, "it managed itself before a rollback: which other clusters it manages is not known")
	}
	return gone
}

// between judges if both clusters may hold objects. `down` finishes an interrupted move back, but no interrupted pivot.
func (o observation) between(r request) verdict {
	managementHolds := o.Management.State == clusters.ManagementActive ||
		o.Management.State == clusters.ManagementPaused
	switch {
	case !managementHolds && !o.Management.Suspended && o.Bootstrap.Holds.OwnPausedByHand(r.scope()):
		return pausedByHand("bootstrap", r.bootstrap, r)
	case o.Management.Cluster == nil:
		return o.silentManagement(r, "a move of the definition was begun, and its progress is not known")
	}
	if !o.Management.Suspended {
		return refused(fault.New(fault.PivotRefused,
			fmt.Sprintf("a pivot of Cluster %s/%s was begun and is not finished", r.namespace, r.cluster),
			"Run cluster-init pivot resume "+r.environment+" first. What was moved is complete on one side only then."))
	}
	state := pivot.Judge(o.Management.Holds, o.Bootstrap.Holds, r.scope())
	switch {
	case state.Phase == pivot.Done: // what is left in the management cluster is paused
		return verdict{decision: remove, reason: "the definition was moved back into the bootstrap cluster: the " +
			"Cluster is deleted there"}
	case state.Phase == pivot.NotStarted, state.Explained():
		return verdict{decision: moveBack,
			reason: "an earlier run has begun to move the definition back: that is finished"}
	}
	return refused(state.Err(r.management, r.bootstrap, r.scope()))
}

// inManagement judges if the bootstrap cluster does not exist or does not hold the Cluster.
func (o observation) inManagement(r request) verdict {
	if cluster := o.Management.Holds.Cluster(r.cluster); cluster != nil && cluster.Deleting {
		return refused(fault.New(fault.ClusterFailed, fmt.Sprintf("Cluster %s/%s is being deleted in the management "+
			"cluster itself, which cannot see it to its end: its controllers run on the machines that they delete",
			r.namespace, r.cluster),
			"When it has stopped answering, delete all that can be found: cluster-init cleanup "+r.environment+
				" --yes --force "+r.cluster+"."))
	}
	switch o.Management.State {
	case clusters.ManagementActive:
		return verdict{decision: moveBack, reason: "the management cluster holds its own definition"}
	case clusters.ManagementPaused:
		if !o.Management.Holds.OwnPausedByHand(r.scope()) &&
			(o.Management.Suspended || o.Bootstrap.State == clusters.BootstrapMoved) {
			return o.between(r)
		}
		return pausedByHand("management", r.management, r)
	case clusters.ManagementEmpty:
		if o.Management.Suspended {
			return refused(fault.New(fault.ClusterUnreachable, fmt.Sprintf("the definition of %s was moved out of the "+
				"management cluster into a bootstrap cluster, which this Docker engine does not have", r.cluster),
				"Run the same command with the DOCKER_HOST, and on the machine, of the run that moved it: that "+
					"bootstrap cluster manages the machines. Only if it is gone for good, bring the definition back "+
					"from a backup, see docs/guides/restore.md."))
		}
		return refused(fault.New(fault.PivotFailed, fmt.Sprintf("the management cluster %s answers and does not hold "+
			"its own definition, and no bootstrap cluster does: nobody manages its machines", r.cluster),
			"Bring the definition back from a backup, see docs/guides/restore.md, and run the same command again. Or "+
				"delete "+
				"all that can be found: cluster-init cleanup "+r.environment+" --yes --force "+r.cluster+"."))
	}
	return o.withoutDefinition(r)
}

// pausedByHand refuses because the Cluster is paused, and not by a move of cluster-init. No controller would delete its
// machines, and only a person resumes it.
func pausedByHand(where string, side clusters.Side, r request) verdict {
	return refused(fault.New(fault.PivotRefused,
		fmt.Sprintf("Cluster %s/%s is paused in the %s cluster, and not by a move that is known", r.namespace,
			r.cluster, where),
		"Resume it, if nobody needs it paused, and run the same command again: "+
			pivot.ResumeCommand(side, r.scope())))
}

// withoutDefinition judges if no cluster that answers holds the definition.
func (o observation) withoutDefinition(r request) verdict {
	notChecked := errors.Is(o.MachinesErr, provider.ErrNotSupported)
	leftoversOnly := verdict{decision: sweep, reason: "nothing of it exists but leftovers"}
	switch {
	case o.Bootstrap.TeardownRequested && (notChecked || o.MachinesErr == nil && len(o.Machines) == 0):
		leftoversOnly.reason = "its Cluster is deleted"
		return leftoversOnly
	case o.Bootstrap.TeardownRequested && o.MachinesErr == nil:
		// Machines that were just deleted may still be listed for a moment.
		return verdict{decision: refuse, retryable: true, refusal: fault.New(fault.ClusterFailed,
			fmt.Sprintf("Cluster %s/%s is gone, and machines of it exist in %s: %s", r.namespace, r.cluster, r.place,
				names(o.Machines)),
			"Look at them, and delete what is left: cluster-init cleanup "+r.environment+" --yes --force "+r.cluster+
				".")}
	case o.Management.State == clusters.ManagementSilent:
		if o.MachinesErr == nil && len(o.Machines) == 0 {
			return leftoversOnly
		}
		return o.silentManagement(r, "only it can delete what it has made")
	case notChecked:
		return refused(fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("no kubeconfig names the management cluster %s, and %s cannot list its machines",
				r.cluster, r.place),
			"Name its kubeconfig with --kubeconfig FILE. "+clusters.RecoverHint(r.environment)))
	case o.MachinesErr != nil:
		return silent(fmt.Errorf("it is not known whether machines of %s exist: %w", r.cluster, o.MachinesErr),
			o.MachinesErr, "Run the same command again when the cloud or the Docker engine answers.")
	case len(o.Machines) > 0:
		return refused(fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("machines of %s exist in %s (%s), and no cluster holds their definition",
				r.cluster, r.place, names(o.Machines)),
			"Name the kubeconfig of the management cluster with --kubeconfig FILE. "+
				clusters.RecoverHint(r.environment)+
				" Or delete all that can be found: cluster-init cleanup "+r.environment+" --yes --force "+r.cluster+
				"."))
	}
	return leftoversOnly
}

// silentManagement refuses because the management cluster does not answer. A cluster that is silent for a while answers
// a later run. One without a kubeconfig, or one that rejects the credentials, does not.
func (o observation) silentManagement(r request, because string) verdict {
	named, remove := o.Management.Named, "cluster-init cleanup "+r.environment+" --yes --force "+r.cluster+"."
	if o.Management.Err == nil {
		return refused(fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("no kubeconfig names the management cluster %s, and %s", r.cluster, because),
			"Name its kubeconfig with --kubeconfig FILE. "+clusters.RecoverHint(r.environment)+
				" If it cannot be brought back, delete all that can be found: "+remove))
	}
	hint := o.AnswerHint(r.environment, "Wait a few minutes, and run the same command again. Else start its machines, "+
		"or restore the network in between. Its kubeconfig is "+named+".")
	if !o.Management.Answered { // a cluster that answered a moment ago is not gone
		hint += " If it cannot be brought back, delete all that can be found: " + remove
	}
	err := fmt.Errorf("the management cluster %s does not answer, and %s: %w", r.cluster, because, o.Management.Err)
	if clusters.Rejects(o.Management.Err) {
		return silent(err, nil, hint)
	}
	return verdict{decision: refuse, retryable: true, refusal: fault.Retryable(err, fault.ClusterUnreachable, hint)}
}

func refused(err error) verdict { return verdict{decision: refuse, refusal: err} }

// silent refuses, and lets the run observe again. The code and hint of cause take precedence, if it is not nil.
func silent(err, cause error, hint string) verdict {
	code := fault.ClusterUnreachable
	if cause != nil {
		code = fault.CodeOr(cause, code)
	}
	if h := fault.HintOf(cause); h != "" {
		hint = h
	}
	return verdict{decision: refuse, retryable: true, refusal: fault.Wrap(err, code, hint)}
}

func names(machines []provider.Machine) string {
	text := ""
	for i, m := range machines {
		if i > 0 {
			text += ", "
		}
		text += m.Name
	}
	return text
}
