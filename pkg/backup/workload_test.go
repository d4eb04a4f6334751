package backup_test

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
)

// Earlier versions of cluster-init read a backup that has nothing of other namespaces.
func TestABackupWithoutWorkloadClustersHasTheFirstFormat(t *testing.T) {
	c := content()
	c.Workloads, c.Sections[backup.Workload] = nil, nil
	b, err := backup.Open(write(t, t.TempDir(), c, backup.Recipients{}), backup.Identities{})
	if err != nil || b.Manifest.Format != 1 || !slices.Equal(b.Manifest.Namespaces(), []string{"ns"}) {
		t.Errorf("%+v, %v", b.Manifest, err)
	}
	if got := content().Namespaces(); !slices.Equal(got, []string{"ns", "team-a"}) {
		t.Errorf("the namespaces are %v", got)
	}
}
