package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
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
	line.LeftOut = []up.LeftOut{{Cluster: "team-c/held", Reason: "Cluster team-c/held is paused"}}
	var text bytes.Buffer
	for _, encrypted := range []bool{false, true} {
		line.Encrypted = encrypted
		for _, format := range []string{"plain", "json"} {
			if err := (outputOptions{format: format}).show(Streams{Out: &text}, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden.Check(t, "backup.txt", text.Bytes())
}
