package cleanup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Permission reports whether a cluster may be deleted without --force.
type Permission struct {
	// Refused is why not: what was found and checked, and the results. If it is empty, the cluster may be deleted.
	Refused string
	// Busy reports whether the reason is another run that works on the cluster.
	Busy bool
	// Hint is what the user can do about a refusal.
	Hint string
	// Why is the reason for the permission.
	Why string
}

// Err returns nil if the cluster may be deleted, else a fault.CleanupRefused or a fault.Busy.
func (p Permission) Err() error {
	if p.Refused == "" {
		return nil
	}
	if p.Busy {
		return fault.Retryable(errors.New(p.Refused+": nothing was deleted"), fault.Busy, p.Hint)
	}
	return fault.New(fault.CleanupRefused, p.Refused+": nothing was deleted", p.Hint)
}

// permit derives a permission from an observation. docs/design/cleanup.md shows the rules as a table. A cluster may be
// deleted if nothing of it could manage itself, or a cluster that knows reports that it does not.
func permit(o observation, t Target) Permission {
	refuse := func(reason, hint string) Permission {
		return Permission{Refused: reason, Hint: hint + t.forceHint()}
	}
	b, node := o.bootstrap, o.bootstrap.node
	switch {
	case o.management.state == managementManaging:
		return refuse(fmt.Sprintf("the management cluster %s answers at %s and manages itself", t.Cluster,
			o.management.host),
			"Delete what it owns with its own controllers first.")
	case b.state == bootstrapStopped:
		return refuse(fmt.Sprintf("the bootstrap cluster's container %s is stopped, and what it holds is not known",
			node),
			"Start it: docker start "+node+". Then run the same command again.")
	case b.state == bootstrapFrozen:
		return refuse(fmt.Sprintf("the bootstrap cluster's container %s is paused, and what it holds is not known",
			node),
			"Unpause it: docker unpause "+node+". Then run the same command again.")
	case b.state == bootstrapBusy:
		return refuseBusy(b.err, t)
	case o.management.state == managementBusy:
		return refuseBusy(o.management.err, t)
	case b.state == bootstrapSilent:
		return refuse(fmt.Sprintf("the bootstrap cluster exists, and what it holds is not known: %v", b.err),
			"See why: docker logs "+node+". Then run the same command again.")
	case o.unleased != nil:
		return refuseUnleased(o.unleased, t)
	case len(b.others) > 0:
		return refuse("the bootstrap cluster holds other definitions, which would go with it: "+
			strings.Join(b.others, ", "),
			"Move them to where they are to be managed (clusterctl move), or delete them there. If one of them is "+
				"what you want to delete, name it: --cluster NAMESPACE/NAME.")
	case len(o.management.others) > 0:
		return refuse(fmt.Sprintf("the management cluster %s answers at %s and manages other clusters, which would be "+
			"lost with it: %s",
			t.Cluster, o.management.host, strings.Join(o.management.others, ", ")),
			"Move them to where they are to be managed (clusterctl move), or delete them there.")
	case b.definition() && t.Elsewhere.Place != "":
		return refuse(fmt.Sprintf("the bootstrap cluster holds the definition of %s, and what that has in %s would be "+
			"left without it: %s", t.Cluster, t.Elsewhere.Place, t.Elsewhere.Why),
			t.Elsewhere.Hint)
	case b.state == bootstrapActive && b.rolledBack && o.management.state != managementEmpty:
		return refuse(fmt.Sprintf("the management cluster %s managed itself before a rollback, and which other "+
			"clusters it manages is not known: %s", t.Cluster, o.asked()),
			o.answerHint(t))
	case b.state == bootstrapActive:
		return Permission{Why: "the bootstrap cluster holds the definition, and no pivot was begun"}
	case o.management.state == managementEmpty:
		return Permission{Why: "the management cluster answers at " + o.management.host +
			" and does not hold its own definition"}
	}
	found := o.found()
	switch {
	case len(found) == 0 && t.Elsewhere.Place != "":
		return Permission{Why: "nothing here holds its definition, and what it has in " + t.Elsewhere.Place +
			" is left alone"}
	case len(found) == 0:
		return Permission{Why: "no machine of it exists, and no sign of a pivot"}
	}
	return refuse(fmt.Sprintf("%s; and nobody says that %s does not manage itself: %s",
		strings.Join(found, "; "), t.Cluster, o.asked()), o.answerHint(t))
}

// forceHint returns a sentence that follows a hint: how to delete the cluster all the same.
func (t Target) forceHint() string { return " If it is to go as it is, add --force " + t.Cluster + "." }

// found returns signs that the cluster may manage itself.
func (o observation) found() []string {
	var found []string
	if len(o.machines) > 0 {
		found = append(found, "machines exist ("+some(o.machines)+")")
	}
	if o.machinesErr != nil {
		found = append(found, fmt.Sprintf("it is not known which machines exist: %v", o.machinesErr))
	}
	switch o.bootstrap.state {
	case bootstrapMoved:
		found = append(found, "the definition was moved out of the bootstrap cluster")
	case bootstrapPaused:
		found = append(found, "a move of the definition out of the bootstrap cluster was begun")
	}
	if o.backup != "" {
		found = append(found, "there is a backup of what a pivot moved ("+o.backup+")")
	}
	if o.backupErr != nil {
		found = append(found, fmt.Sprintf("it is not known whether there is a backup of a pivot: %v", o.backupErr))
	}
	if o.management.state == managementSilent {
		found = append(found, "there is a kubeconfig of a management cluster ("+o.management.named+")")
	}
	return found
}

// asked returns which clusters were checked, and the results.
func (o observation) asked() string {
	bootstrap := map[bootstrapState]string{
		bootstrapAbsent: "there is no bootstrap cluster",
		bootstrapEmpty:  "the bootstrap cluster does not hold its definition",
		bootstrapMoved:  "the bootstrap cluster does not hold its definition any more",
		bootstrapPaused: "the bootstrap cluster holds its definition, paused",
		bootstrapActive: "the bootstrap cluster holds its definition",
	}[o.bootstrap.state]
	switch m := o.management; m.state {
	case managementSilent:
		return fmt.Sprintf("%s, and the management cluster gives no answer that counts: %v", bootstrap, m.err)
	case managementUnproven:
		return fmt.Sprintf("%s, and the cluster of %s, which answers at %s, cannot be proven to be this one", bootstrap,
			m.named, m.host)
	default:
		return fmt.Sprintf("%s, and no kubeconfig of its management cluster (%s)", bootstrap, m.named)
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
		return "Start what it runs on, or restore the network or its credentials." + recovered +
			" Then run the same command again."
	}
	return "Name the management cluster's kubeconfig with --kubeconfig FILE." + recovered +
		" Then run the same command again."
}

// mostNames limits the number of names in a sentence.
const mostNames = 5

func some(names []string) string {
	if more := len(names) - mostNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), more)
	}
	return strings.Join(names, ", ")
}
