package cleanup

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Permission reports whether a cluster may be deleted without --force.
type Permission struct {
	// Refused reports that --force is needed.
	Refused bool
	// Busy reports whether the reason of a refusal is another run that works on the cluster.
	Busy bool
	// Reason says why the deletion is permitted or refused: what was found and checked, and the results.
	Reason string
	// Hint is what the user can do about a refusal.
	Hint string
}

// Err returns nil if the cluster may be deleted, else a fault.CleanupRefused or a fault.Busy.
func (p Permission) Err() error {
	if !p.Refused {
		return nil
	}
	if p.Busy {
		return fault.Retryable(errors.New(p.Reason+": nothing was deleted"), fault.Busy, p.Hint)
	}
	return fault.New(fault.CleanupRefused, p.Reason+": nothing was deleted", p.Hint)
}

// permit allows deletion if the cluster cannot manage itself, or an authoritative cluster reports that it does not.
// docs/design/cleanup.md shows the rules as a table. The first rule that applies decides.
func permit(o observation, t Target) Permission {
	b, m := o.bootstrap, o.management
	switch {
	case m.state == managementManaging:
		return refuseManaging(m, t)
	case o.serving != "":
		return refuseServing(o.serving, t)
	case b.state == bootstrapStopped:
		return refuseStopped(b, t)
	case b.state == bootstrapFrozen:
		return refuseFrozen(b, t)
	case b.state == bootstrapBusy:
		return refuseBusy(b.err, t)
	case m.state == managementBusy:
		return refuseBusy(m.err, t)
	case b.state == bootstrapSilent:
		return refuseSilent(b, t)
	case o.leaseErr != nil:
		return refuseUnleased(o.leaseErr, t)
	case len(b.others) > 0:
		return refuseOthersInBootstrap(b, t)
	case len(m.others) > 0:
		return refuseOthersInManagement(m, t)
	case b.holdsDefinition() && t.Elsewhere.Place != "":
		return refuseElsewhere(t)
	case b.state == bootstrapActive && b.rolledBack && m.state != managementEmpty:
		return refuseRolledBack(o, t)
	case b.state == bootstrapActive:
		return Permission{Reason: "the bootstrap cluster holds the definition, and no pivot was begun"}
	case m.state == managementEmpty:
		return Permission{Reason: "the management cluster answers at " + m.host +
			" and does not hold its own definition"}
	case len(o.signs()) > 0:
		return refuseUnknown(o, t)
	case t.Elsewhere.Place != "":
		return Permission{Reason: "nothing here holds its definition, and what it has in " + t.Elsewhere.Place +
			" is left alone"}
	}
	return Permission{Reason: "no machine of it exists, and no sign of a pivot"}
}

// refuse returns a refusal that the user can override.
func refuse(t Target, reason, hint string) Permission {
	return Permission{Refused: true, Reason: reason, Hint: hint + t.forceHint()}
}

func refuseManaging(m managementSide, t Target) Permission {
	return refuse(t, fmt.Sprintf("the management cluster %s answers at %s and manages itself", t.Cluster, m.host),
		"Delete what it owns with its own controllers first.")
}

func refuseServing(registry string, t Target) Permission {
	return refuse(t, fmt.Sprintf("the registry %s serves the existing cluster that cluster-init install made the "+
		"management cluster %s, and its components come from there", registry, t.Cluster),
		"Take them out of that cluster first: cluster-init uninstall ENVIRONMENT --kubeconfig FILE.")
}

func refuseStopped(b bootstrapSide, t Target) Permission {
	return refuse(t, fmt.Sprintf("the bootstrap cluster's container %s is stopped, and its content is not known",
		b.node), "Start it: docker start "+b.node+". Then run the same command again.")
}

func refuseFrozen(b bootstrapSide, t Target) Permission {
	return refuse(t, fmt.Sprintf("the bootstrap cluster's container %s is paused, and its content is not known",
		b.node), "Unpause it: docker unpause "+b.node+". Then run the same command again.")
}

func refuseSilent(b bootstrapSide, t Target) Permission {
	return refuse(t, fmt.Sprintf("the bootstrap cluster exists, and its content is not known: %v", b.err),
		"See why: docker logs "+b.node+". Then run the same command again.")
}

func refuseOthersInBootstrap(b bootstrapSide, t Target) Permission {
	return refuse(t, "the bootstrap cluster holds other definitions, which would go with it: "+
		strings.Join(b.others, ", "),
		"Move them to where they are to be managed (clusterctl move), or delete them there. If one of them is "+
			"what you want to delete, name it: --cluster NAMESPACE/NAME.")
}

func refuseOthersInManagement(m managementSide, t Target) Permission {
	return refuse(t, fmt.Sprintf("the management cluster %s answers at %s and manages other clusters, which would be "+
		"lost with it: %s", t.Cluster, m.host, strings.Join(m.others, ", ")),
		"Move them to where they are to be managed (clusterctl move), or delete them there.")
}

func refuseElsewhere(t Target) Permission {
	return refuse(t, fmt.Sprintf("the bootstrap cluster holds the definition of %s, and what that has in %s would be "+
		"left without it: %s", t.Cluster, t.Elsewhere.Place, t.Elsewhere.Reason), t.Elsewhere.Hint)
}

func refuseRolledBack(o observation, t Target) Permission {
	return refuse(t, fmt.Sprintf("the management cluster %s managed itself before a rollback, and which other "+
		"clusters it manages is not known: %s", t.Cluster, o.checkResults()), o.answerHint(t))
}

func refuseUnknown(o observation, t Target) Permission {
	return refuse(t, fmt.Sprintf("%s; and it is not known whether %s manages itself: %s",
		strings.Join(o.signs(), "; "), t.Cluster, o.checkResults()), o.answerHint(t))
}

func refuseBusy(err error, t Target) Permission {
	p := refuse(t, err.Error(), "Wait for its end, and run the same command again.")
	p.Busy = true
	return p
}

func refuseUnleased(err error, t Target) Permission {
	return refuse(t, fmt.Sprintf("it is not known whether another run is at work: %v", err),
		cmp.Or(fault.HintOf(err), "Run the same command again when the cluster answers."))
}

// forceHint returns a sentence that follows a hint: how to delete the cluster all the same.
func (t Target) forceHint() string { return " If it is to go as it is, add --force " + t.Cluster + "." }

// signs returns why the cluster may manage itself.
func (o observation) signs() []string {
	var signs []string
	if len(o.machines) > 0 {
		signs = append(signs, "machines exist ("+abbreviated(o.machines)+")")
	}
	if o.machinesErr != nil {
		signs = append(signs, fmt.Sprintf("it is not known which machines exist: %v", o.machinesErr))
	}
	switch o.bootstrap.state {
	case bootstrapMoved:
		signs = append(signs, "the definition was moved out of the bootstrap cluster")
	case bootstrapPaused:
		signs = append(signs, "a move of the definition out of the bootstrap cluster was begun")
	}
	if o.backup != "" {
		signs = append(signs, "there is a backup of what a pivot moved ("+o.backup+")")
	}
	if o.backupErr != nil {
		signs = append(signs, fmt.Sprintf("it is not known whether there is a backup of a pivot: %v", o.backupErr))
	}
	if o.management.state == managementSilent {
		signs = append(signs, "there is a kubeconfig of a management cluster ("+o.management.kubeconfigs+")")
	}
	return signs
}

// checkResults returns which clusters were checked, and the results. It relies on the order of the rules in permit:
// then the bootstrap cluster is not stopped, frozen, silent or busy, and the management cluster is silent, unproven or
// absent.
func (o observation) checkResults() string {
	bootstrap := map[bootstrapState]string{
		bootstrapAbsent: "there is no bootstrap cluster",
		bootstrapEmpty:  "the bootstrap cluster does not hold its definition",
		bootstrapMoved:  "the bootstrap cluster does not hold its definition any more",
		bootstrapPaused: "the bootstrap cluster holds its definition, paused",
		bootstrapActive: "the bootstrap cluster holds its definition",
	}[o.bootstrap.state]
	switch m := o.management; m.state {
	case managementSilent:
		return fmt.Sprintf("%s, and it is not known what the management cluster manages: %v", bootstrap, m.err)
	case managementUnproven:
		return fmt.Sprintf("%s, and the cluster of %s, which answers at %s, cannot be proven to be this one", bootstrap,
			m.kubeconfigs, m.host)
	default: // managementAbsent
		return fmt.Sprintf("%s, and no kubeconfig of its management cluster (%s)", bootstrap, m.kubeconfigs)
	}
}

// answerHint returns how to make the management cluster answer. Machines that exist and can be read hold its
// kubeconfig.
func (o observation) answerHint(t Target) string {
	recovered := ""
	if len(o.machines) > 0 && t.Recover != "" {
		recovered = " " + t.Recover
	}
	if o.management.state == managementSilent {
		return "Start its machines, or restore the network or its credentials." + recovered +
			" Then run the same command again."
	}
	return "Name the management cluster's kubeconfig with --kubeconfig FILE." + recovered +
		" Then run the same command again."
}

// mostNames limits the number of names in a sentence.
const mostNames = 5

// abbreviated joins the first names, and counts the rest.
func abbreviated(names []string) string {
	if more := len(names) - mostNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), more)
	}
	return strings.Join(names, ", ")
}
