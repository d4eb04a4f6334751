package backup

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cluster-init/cluster-init/pkg/etcd"
)

// snapshotFile is the snapshot of etcd, by its path in a backup.
const snapshotFile = string(Etcd) + "/snapshot.db"

// EtcdSnapshot describes the snapshot of the management cluster's etcd.
type EtcdSnapshot struct {
	Version string       `json:"version"` // of etcd
	Taken   time.Time    `json:"taken"`   // what was written later is not in it
	Members []EtcdMember `json:"members"`
}

// EtcdMember is a member at the time of the snapshot.
type EtcdMember struct {
	// Name is that of its Node, and of its machine.
	Name string `json:"name"`
	// Address is where it listened for the other members: an IP address.
	Address string `json:"address"`
}

// check refuses a description that restore could not use.
func (s *EtcdSnapshot) check() error {
	if !isPrintable(s.Version) || s.Version == "" {
		return errors.New("the version of etcd is not printable")
	}
	if s.Taken.IsZero() {
		return errors.New("its snapshot of etcd has no time")
	}
	if len(s.Members) == 0 {
		return errors.New("its snapshot of etcd has no members")
	}
	for i, m := range s.Members {
		if len(validation.IsDNS1123Subdomain(m.Name)) > 0 {
			return errors.New("the name of a member of etcd is not a valid name")
		}
		if _, err := netip.ParseAddr(m.Address); err != nil {
			return fmt.Errorf("the address of the member %s of etcd is not an IP address", m.Name)
		}
		if slices.ContainsFunc(s.Members[:i], func(o EtcdMember) bool {
			return o.Name == m.Name || o.Address == m.Address
		}) {
			return fmt.Errorf("the member %s of etcd is in it twice", m.Name)
		}
	}
	return nil
}

// checkEtcd refuses a snapshot without its description, and the other way round.
func (m Manifest) checkEtcd() error {
	if _, there := m.Files[snapshotFile]; there != (m.Etcd != nil) {
		return errors.New("its snapshot of etcd is incomplete")
	}
	if m.Etcd == nil {
		return nil
	}
	return m.Etcd.check()
}

// snapshotEntry returns the file of the snapshot; ok is false if there is none.
func (c Content) snapshotEntry() (e entry, ok bool, err error) {
	if c.Etcd == nil {
		return entry{}, false, nil
	}
	return entry{snapshotFile, c.Snapshot}, true, etcd.Verify(c.Snapshot)
}
