package backup

import (
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Target is the cluster that a backup is compared with.
type Target struct {
	Namespace, Cluster string
	// Identity is the identity of the cluster that the backup should be of. Empty means not known, and not compared.
	Identity  string
	Providers []Provider
}

// Fits refuses, with the code fault.BackupInvalid, a backup of another cluster, and one that was made with providers
// which the target does not have in the same versions.
func (m Manifest) Fits(t Target) error {
	var wrong []error
	refuse := func(hint, format string, args ...any) {
		wrong = append(wrong, fault.New(fault.BackupInvalid, fmt.Sprintf(format, args...), hint))
	}
	switch {
	case m.Namespace != t.Namespace || m.Cluster != t.Cluster:
		refuse("Use a backup of this cluster.", "the backup is of Cluster %s/%s, not of %s/%s", m.Namespace,
			m.Cluster, t.Namespace, t.Cluster)
	case m.Identity != "" && t.Identity != "" && m.Identity != t.Identity:
		refuse("Use a backup of this cluster.",
			"the backup is of an earlier cluster %s/%s: it has another certificate authority", m.Namespace, m.Cluster)
	}
	for _, p := range m.Providers {
		i := slices.IndexFunc(t.Providers, func(other Provider) bool { return other.Name == p.Name })
		switch {
		case i < 0:
			refuse("Install the providers that the backup was made with.",
				"the backup was made with provider %s %s, which the target does not have", p.Name, p.Version)
		case t.Providers[i].Version != p.Version:
			refuse("Install the providers that the backup was made with.",
				"the backup was made with provider %s %s, and the target has %s", p.Name, p.Version,
				t.Providers[i].Version)
		}
	}
	return fault.Join(wrong...)
}
