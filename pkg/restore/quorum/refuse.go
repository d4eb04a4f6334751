package quorum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Refuse returns why a backup's snapshot does not fit a machine; nil if it does.
func Refuse(b *backup.Backup, s State) error {
	of := b.Manifest
	refused := func(why, hint string) error {
		return fault.New(fault.BackupInvalid, fmt.Sprintf("restore the etcd of %s from this backup: %s", of.Cluster,
			why), hint)
	}
	const another = "Use a backup of this cluster that was made with its machines and version of today: a snapshot " +
		"brings back what they were."
	if of.Etcd == nil {
		return refused("it has no snapshot of etcd", "Use a backup that was made with backup --etcd.")
	}
	if of.Identity == "" || of.Identity != s.Identity {
		return refused("it is of another cluster: its certificate authority differs from that of machine "+s.Member,
			another)
	}
	if of.Kubernetes == "" || of.Kubernetes != s.Kubernetes {
		return refused(fmt.Sprintf("it was made with Kubernetes %s, and machine %s has %s", of.Kubernetes, s.Member,
			s.Kubernetes), another)
	}
	at := slices.IndexFunc(of.Etcd.Members, func(m backup.EtcdMember) bool { return m.Name == s.Member })
	if at < 0 {
		return refused(fmt.Sprintf("the machines have changed since: it has the members %s, and machine %s is not one "+
			"of them", names(of.Etcd.Members), s.Member), another)
	}
	if is := of.Etcd.Members[at].Address; is != s.Address {
		return refused(fmt.Sprintf("machine %s has the address %s, and had %s", s.Member, s.Address, is), another)
	}
	return nil
}

func names(members []backup.EtcdMember) string {
	var all []string
	for _, m := range members {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ")
}
