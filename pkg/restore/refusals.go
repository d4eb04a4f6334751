package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// refusal returns why the machines may have another manager; nil if they have none. A person's word counts only for a
// cluster that does not answer.
func (m formerManagement) refusal(in Input) error {
	of := in.Backup.Manifest
	named := fmt.Sprintf("the management cluster %s, which the backup is of,", of.Cluster)
	if m.host != "" {
		named = fmt.Sprintf("the management cluster %s at %s, which the backup is of,", of.Cluster, m.host)
	}
	refuse := func(hint, format string, args ...any) error {
		return fault.New(fault.RestoreRefused, named+" "+fmt.Sprintf(format, args...), hint)
	}
	switch m.state {
	case formerHolds:
		var held []string
		for _, c := range m.holds {
			how := "active"
			if c.Paused {
				how = "paused"
			}
			held = append(held, c.String()+" ("+how+")")
		}
		return refuse("Nothing is to be restored while it holds its definition: a second cluster would act on the "+
			"same machines. If it is not well, repair it, or move "+
			"the definition with clusterctl move. --force does not change this.", "answers and holds %s",
			strings.Join(held, ", "))
	case formerApplies:
		return refuse("On that cluster, in this order:\n"+m.suspend()+"\nThen run the same command again.",
			"answers and holds nothing of the backup, and its Flux would put it back: not suspended: %s",
			strings.Join(m.active, ", "))
	case formerEmpty:
		if m.attested || in.Force {
			return nil
		}
		return refuse("Check who made the backup with --verify-key KEY, or give a kubeconfig of that cluster that you "+
			"have from elsewhere with --former-kubeconfig FILE. "+
			"Only if it is gone for good and cannot come back, add --force "+of.Cluster+".",
			"answers and holds nothing of the backup, and only the backup, whose signature was not checked, says "+
				"where that cluster is")
	case formerMoved:
		if in.Force {
			return nil
		}
		return refuse("That cluster manages the machines, or deletes them: see cluster-init pivot rollback, or "+
			"cluster-init down, where it was run. Only if it is gone for good and cannot come back, add --force "+
			of.Cluster+".",
			"answers and holds nothing of the backup: its definition was moved out of it into a bootstrap cluster")
	case formerClosed:
		return refuse("Use a newer backup, whose credentials are valid, or end that cluster first. --force does not "+
			"change this.", "answers and does not say what it holds: %v", m.err)
	case formerSilent:
		if in.Force {
			return nil
		}
		return refuse("Look whether its API server runs, and make it reachable from here. Only if it is gone for good "+
			"and cannot come back, add --force "+of.Cluster+".",
			"cannot be asked whether it still manages the machines: %v", m.err)
	}
	return nil
}

// suspend returns how a person keeps that cluster's Flux from restoring the definition.
func (m formerManagement) suspend() string {
	var lines []string
	for _, o := range m.active {
		lines = append(lines, "kubectl -n "+flux.Namespace+" patch "+o+` --type merge -p '{"spec":{"suspend":true}}'`)
	}
	return strings.Join(lines, "\n")
}

// unfinished refuses a backup of an unverified move. Two clusters may then hold the definition, and the backup names
// only one of them.
func (in Input) unfinished() error {
	path := record.Marker(filepath.Clean(in.Path))
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && in.StateFolder != "" { // the backup was moved away from its record
		path, err = in.recorded()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && in.Force:
		return nil
	case err != nil:
		return fault.Wrap(fmt.Errorf("see whether the move of the backup was finished: %w", err), fault.RestoreRefused,
			"Let the folder of the backup be read.")
	}
	return fault.New(fault.RestoreRefused, "the backup was written for a move that was not seen to its end: the "+
		"bootstrap cluster may hold the definition, too; "+path+" says so",
		"Run cluster-init pivot resume ENVIRONMENT. Only if both clusters are gone for good and cannot come back, add "+
			"--force "+in.Backup.Manifest.Cluster+".")
}

// recorded returns the record of an unverified move of the backup's cluster that this machine began. The error is
// fs.ErrNotExist if there is none.
func (in Input) recorded() (string, error) {
	of := in.Backup.Manifest
	path, err := record.Newest(in.StateFolder, of.Cluster)
	if err != nil {
		return "", err
	}
	if path == "" {
		return "", fs.ErrNotExist
	}
	// the record is of an earlier cluster of that name
	if r, err := record.Read(path); err == nil && r.Identity != "" && of.Identity != "" && r.Identity != of.Identity {
		return "", fs.ErrNotExist
	}
	return record.Marker(path), nil
}

// sameCluster refuses to restore a backup into the cluster that it was made of. identity is the authority that the
// target gives to its own workloads.
func (in Input) sameCluster(identity string, own bool) error {
	of := in.Backup.Manifest
	if !own && (identity == "" || identity != of.Identity) {
		return nil
	}
	return fault.New(fault.RestoreRefused,
		fmt.Sprintf("the target is the management cluster %s itself, which the backup is of", of.Cluster),
		"Build another management cluster elsewhere, with another cluster.name, and name its kubeconfig. If this one "+
			"lives and has lost its definition, run cluster-init up: it says what to do.")
}

// whole refuses a backup that cannot be restored, and names the objects.
func whole(b *backup.Backup, in Input) error {
	var wrong []error
	refuse := func(format string, args ...any) {
		wrong = append(wrong, fault.New(fault.BackupInvalid, fmt.Sprintf(format, args...),
			"Use another backup, or a copy of this one."))
	}
	seen := map[string]bool{}
	for _, u := range b.Section(backup.Objects) {
		switch uid := string(u.GetUID()); {
		case uid == "":
			refuse("%s %s/%s in the backup has no UID, by which its owners are found", u.GetKind(), u.GetNamespace(),
				u.GetName())
		case seen[uid]:
			refuse("%s %s/%s in the backup has the UID of another object", u.GetKind(), u.GetNamespace(), u.GetName())
		default:
			seen[uid] = true
		}
	}
	own := false
	for _, o := range in.clusters() {
		own = own || o.Name == b.Manifest.Cluster && o.Namespace == b.Manifest.Namespace
	}
	if !own {
		refuse("the backup does not hold Cluster %s/%s, which it is of", b.Manifest.Namespace, b.Manifest.Cluster)
	}
	return fault.Join(wrong...)
}
