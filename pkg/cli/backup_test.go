package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/up"
)

func TestBackupTellsWhereItIsAndWhatIsInIt(t *testing.T) {
	digest := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	line := backupLine{Type: "backup", Path: "/state/demo-20260102T030405Z", Manifest: backup.Manifest{
		Format: 1, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), CreatedBy: "v1", Namespace: "ns",
		Cluster: "demo", Identity: "sha256:" + digest, Kubernetes: "v1.36.4",
		Providers: []backup.Provider{{Name: "cluster-api", Version: "v1.14.0"}},
		Workloads: []backup.WorkloadCluster{{Namespace: "team-a", Cluster: "shop", ManagedBy: "ns/demo", Release: true},
			{Namespace: "team-b", Cluster: "legacy", ManagedBy: "ns/demo"}},
		Files: map[string]string{"workload/d.yaml": digest, "objects/a.yaml": digest, "objects/b.yaml": digest,
			"environment/c.yaml": digest}}}
	var text bytes.Buffer
	for _, encrypted := range []bool{false, true} {
		line.Encrypted = encrypted
		line.LeftOut = []up.LeftOut{{Cluster: "team-c/held", Reason: "Cluster team-c/held is paused"},
			{Object: "MachineHealthCheck ns/demo-workers", Reason: "nothing owns it"}}
		if encrypted {
			line.LeftOut = nil
			line.Pruned = backup.Pruned{Removed: []string{"/state/demo-20260101T030405Z"},
				NotRemoved: []backup.NotRemoved{{Path: "/state/demo-20260101T000000Z", Reason: "it has no backup.json"}}}
		}
		for _, format := range []string{"plain", "json"} {
			if err := (outputOptions{format: format}).show(Streams{Out: &text}, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden.Check(t, "backup.txt", text.Bytes())
}

// A backup that leaves out a cluster, or next to which older ones stay, is printed and is an alarm; one that failed is
// not printed.
func TestBackupEndsWithItsOwnCodeWhenIncomplete(t *testing.T) {
	failed := fault.New(fault.BackupRefused, "it is paused", "")
	incomplete := fault.New(fault.BackupIncomplete, "it leaves out team-c/held", "")
	notPruned := fault.New(fault.BackupNotPruned, "permission denied", "")
	for name, tc := range map[string]struct {
		line  backupLine
		err   error
		code  int
		shown bool
	}{
		"all of it":  {backupLine{Path: "/safe/demo"}, nil, 0, true},
		"incomplete": {backupLine{Path: "/safe/demo"}, incomplete, 66, true},
		"not pruned": {backupLine{Path: "/safe/demo"}, notPruned, 67, true},
		"none":       {backupLine{}, failed, 62, false},
	} {
		var text bytes.Buffer
		o := backupOptions{output: outputOptions{format: "plain"}, streams: Streams{Out: &text}}
		if got := ExitCode(o.finish(tc.line, tc.err)); got != tc.code || text.Len() > 0 != tc.shown {
			t.Errorf("%s: exit code %d, printed %q", name, got, text.String())
		}
	}
}
