package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// refusal returns why the machines may have another manager; nil if they have none. --force passes only a silent,
// moved-out or empty cluster.
func (m formerManagement) refusal(input Input) error {
	name := input.Backup.Manifest.Cluster
	subject := "the old management cluster " + name
	if m.host != "" {
		subject += " at " + m.host
	}
	refuse := func(message, hint string) error {
		return fault.New(fault.RestoreRefused, oneline.Blanks(subject+" "+message), hint)
	}
	switch m.state {
	case formerHolds:
		return refuse("still holds "+strings.Join(m.heldClusters(), ", "), "Repair that cluster, or move its "+
			"definition with clusterctl move: two clusters must not act on the same machines. --force does not change "+
			"this.")
	case formerApplies:
		return refuse("holds nothing of the backup, but its Flux is not suspended and would apply it again: "+
			strings.Join(texts(m.active), ", "),
			"Suspend Flux on that cluster, in this order:\n"+m.suspendCommands()+"\nThen run the same command again.")
	case formerEmpty:
		if m.attested || input.Force {
			return nil
		}
		return refuse("holds nothing of the backup, but its address comes from the backup alone, whose signature was "+
			"not checked", "Check the signature with --verify-key KEY, or give your own kubeconfig of that cluster "+
			"with --former-kubeconfig FILE. Only if it is gone for good and "+
			"cannot come back, add --force "+name+".")
	case formerMoved:
		if input.Force {
			return nil
		}
		return refuse("holds nothing of the backup: a move took its definition into a bootstrap cluster", "Finish "+
			"cluster-init pivot rollback or cluster-init down where you ran it: that bootstrap cluster manages the "+
			"machines, or deletes them. Only if it is gone for good and cannot come back, add --force "+name+".")
	case formerClosed:
		return refuse(fmt.Sprintf("answers, but does not show what it holds: %v", m.err), "Use a newer backup with "+
			"valid credentials, or shut that cluster down first. --force does not change this.")
	case formerSilent:
		if input.Force {
			return nil
		}
		return refuse(fmt.Sprintf("may still manage the machines: %v", m.err), "Check that "+
			"its API server runs, and make it reachable from here. Only if it is gone for good and cannot come back, "+
			"add --force "+name+".")
	}
	return nil
}

// heldClusters describes the Clusters of the backup that the cluster holds.
func (m formerManagement) heldClusters() []string {
	var all []string
	for _, c := range m.holds {
		state := "active"
		if c.Paused {
			state = "paused"
		}
		all = append(all, c.String()+" ("+state+")")
	}
	return all
}

func texts[T fmt.Stringer](all []T) []string {
	var lines []string
	for _, each := range all {
		lines = append(lines, each.String())
	}
	return lines
}

// suspendCommands returns the commands that keep that cluster's Flux from restoring the definition. That cluster may
// have names of any form: each stays one word.
func (m formerManagement) suspendCommands() string {
	var lines []string
	for _, o := range m.active {
		lines = append(lines, "kubectl -n "+oneline.Shell(o.namespace)+" patch "+o.kind+" "+oneline.Shell(o.name)+
			` --type merge -p '{"spec":{"suspend":true}}'`)
	}
	return strings.Join(lines, "\n")
}

// refuseUnverifiedMove refuses a backup of an unverified move. Two clusters may then hold the definition, and the
// backup names only one of them.
func (input Input) refuseUnverifiedMove() error {
	path := record.Marker(filepath.Clean(input.Path))
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && input.StateFolder != "" { // the backup was moved away from its record
		path, err = input.unverifiedRecord()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && input.Force:
		return nil
	case err != nil:
		return fault.Wrap(fmt.Errorf("check whether the move of the backup was finished: %w", err),
			fault.RestoreRefused, "Give yourself permission to read the folder of the backup.")
	}
	return fault.New(fault.RestoreRefused, "the backup was written for a move that is not known to be finished: "+
		"the bootstrap cluster may hold the definition, too (record: "+path+")",
		"Finish the move: cluster-init pivot resume ENVIRONMENT. Only if both clusters are gone for good and cannot "+
			"come back, add --force "+input.Backup.Manifest.Cluster+".")
}

// unverifiedRecord returns the record of an unverified move of the backup's cluster that this machine began. The error
// is fs.ErrNotExist if there is none.
func (input Input) unverifiedRecord() (string, error) {
	manifest := input.Backup.Manifest
	path, err := record.Newest(input.StateFolder, manifest.Cluster)
	if err != nil {
		return "", err
	}
	if path == "" {
		return "", fs.ErrNotExist
	}
	// Another identity means an earlier cluster of that name.
	if r, err := record.Read(path); err == nil && r.Identity != "" && manifest.Identity != "" &&
		r.Identity != manifest.Identity {
		return "", fs.ErrNotExist
	}
	return record.Marker(path), nil
}

// refuseSameCluster refuses to restore a backup into the cluster that it was made of. targetIdentity is the digest of
// the target's CA. kubeconfigMatches reports whether the target's kubeconfig names the CA of the backup's cluster.
func (input Input) refuseSameCluster(targetIdentity string, kubeconfigMatches bool) error {
	manifest := input.Backup.Manifest
	if !kubeconfigMatches && (targetIdentity == "" || targetIdentity != manifest.Identity) {
		return nil
	}
	return fault.New(fault.RestoreRefused,
		fmt.Sprintf("the backup was taken from the target itself, the management cluster %s", manifest.Cluster),
		"Build another management cluster with another cluster.name, and give its kubeconfig. If this one has only "+
			"lost its definition, run cluster-init up ENVIRONMENT: it prints what to do.")
}
