//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	backupCron   = "cluster-init-backup"
	backupFolder = "/var/lib/cluster-init-backups" // of the control-plane machine
	// userOfBackups is the user of the Pod, see kustomize-components/backup.
	userOfBackups = "65532"
)

// TestMatrixBackupSchedule has the management cluster back itself up every minute, encrypted and with its etcd, into a
// folder of its machine. The newest two backups stay, and the key opens them. `status` says when backups fail and when
// they are suspended.
func TestMatrixBackupSchedule(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", l.name, "--bundle", l.bundle); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	machine := controlPlane(t, l.name)
	image := l.loadsItself(t, machine)
	inContainer(t, machine, "sh", "-c", "mkdir -p "+backupFolder+" && chown "+userOfBackups+" "+backupFolder)
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	values := valuesFile(t, map[string]any{
		"components": map[string]any{owned.BackupComponent: map[string]any{"enabled": "management-only"}},
		"cluster": map[string]any{"backup": map[string]any{"schedule": "* * * * *", "image": image, "keep": 2,
			"recipients": []any{identity.Recipient().String()},
			"volume":     map[string]any{"hostPath": map[string]any{"path": backupFolder, "type": "Directory"}}}}})
	if code, _ := l.run(t, "up", l.name, "--bundle", l.bundle, "--values", values); code != 0 {
		t.Fatalf("up with backups on a schedule ended with %d", code)
	}
	management := l.management(t)
	management.managesItself(t)

	seen := map[string]bool{}
	eventually(t, "three backups were made, and two are left", 10*time.Minute, func(context.Context) bool {
		now := backupsOn(t, machine)
		for _, name := range now {
			seen[name] = true
		}
		return len(seen) >= 3 && len(now) == 2
	})
	if _, out := l.run(t, "status", l.name); strings.Contains(out, backupCron) {
		t.Errorf("status complains about backups that are made: %s", out)
	}
	l.saysOfBackups(t, management, machine)
	opensBackup(t, machine, identity)
	cleanup(t, l)
}

// saysOfBackups fails the test unless `status` reports backups that fail, with their error, and suspended ones. It
// leaves them suspended.
func (l lab) saysOfBackups(t *testing.T, management cluster, machine string) {
	t.Helper()
	says := func(want ...string) func(context.Context) bool {
		return func(context.Context) bool {
			_, out := l.run(t, "status", l.name)
			return !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(out, part) })
		}
	}
	inContainer(t, machine, "chown", "root", backupFolder)
	eventually(t, "status says that backups fail", 5*time.Minute, says("did not succeed", "permission denied"))
	inContainer(t, machine, "chown", userOfBackups, backupFolder)
	eventually(t, "status says no more that they fail", 5*time.Minute, func(ctx context.Context) bool {
		return !says(backupCron)(ctx)
	})
	cron := object("batch/v1", "CronJob", "management", backupCron, nil)
	must(t, management.Patch(t.Context(), cron, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"suspend":true}}`))))
	eventually(t, "status says that they are suspended", time.Minute, says(backupCron+" is suspended"))
	eventually(t, "the last backup has ended", 5*time.Minute, func(ctx context.Context) bool {
		if management.Get(ctx, client.ObjectKeyFromObject(cron), cron) != nil {
			return false
		}
		status, _ := cron.Object["status"].(map[string]any)
		return status["active"] == nil
	})
}

// loadsItself loads an image with cluster-init into a machine, as nothing pulls it in the lab: that of the registry
// next to the clusters, which runs the binary as a release's image does. It returns the name of the image.
func (l lab) loadsItself(t *testing.T, machine string) string {
	t.Helper()
	image := docker(t, "inspect", "--format", "{{.Config.Image}}", owned.Registry(l.name))
	file := filepath.Join(t.TempDir(), "image.tar")
	docker(t, "save", "--output", file, image)
	tar, err := os.Open(file)
	must(t, err)
	defer tar.Close()
	load := exec.CommandContext(t.Context(), "docker", "exec", "--interactive", machine, "ctr", "--namespace", "k8s.io",
		"images", "import", "-")
	load.Stdin = tar
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load %s into %s: %v: %s", image, machine, err, out)
	}
	return image
}

// backupsOn returns the names of the encrypted backups on a machine, the oldest first.
func backupsOn(t *testing.T, machine string) []string {
	t.Helper()
	var all []string
	for name := range strings.FieldsSeq(inContainer(t, machine, "ls", backupFolder)) {
		if owned.IsBackup(environmentName, name) && strings.HasSuffix(name, owned.EncryptedSuffix) {
			all = append(all, name)
		}
	}
	return all
}

// opensBackup fails the test unless two backups are left, which only their user reads, and the key opens the newest.
func opensBackup(t *testing.T, machine string, identity *age.X25519Identity) {
	t.Helper()
	all := backupsOn(t, machine)
	if len(all) != 2 {
		t.Fatalf("these backups are left: %v", all)
	}
	newest := backupFolder + "/" + all[1]
	if mode := inContainer(t, machine, "stat", "--format", "%a %u", newest); mode != "600 "+userOfBackups {
		t.Errorf("the backup has the mode and the owner %s", mode)
	}
	folder := t.TempDir()
	file, key := filepath.Join(folder, all[1]), filepath.Join(folder, "key.txt")
	docker(t, "cp", machine+":"+newest, file)
	must(t, os.WriteFile(key, []byte(identity.String()+"\n"), 0o600))
	ids, err := backup.ReadIdentities(key)
	must(t, err)
	b, err := backup.Open(file, ids)
	must(t, err)
	if b.Manifest.Etcd == nil || len(b.Manifest.Etcd.Members) != 1 || len(b.Snapshot) == 0 ||
		b.Manifest.Cluster != environmentName {
		t.Errorf("the backup has a snapshot of %d bytes, %+v of Cluster %s", len(b.Snapshot), b.Manifest.Etcd,
			b.Manifest.Cluster)
	}
}
