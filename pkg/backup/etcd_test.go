package backup_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// withSnapshot has a snapshot with a database of that many KiB.
func withSnapshot(kib int) backup.Content {
	c := content()
	database := bytes.Repeat([]byte{7}, kib<<10)
	digest := sha256.Sum256(database)
	c.Snapshot = slices.Concat(database, digest[:])
	c.Etcd = &backup.EtcdSnapshot{Version: "3.6.8", Taken: content().Created, Members: []backup.EtcdMember{
		{Name: "mgmt-control-plane-x", Address: "172.18.0.4"}, {Name: "mgmt-control-plane-y", Address: "fd00::4"}}}
	return c
}

func TestASnapshotOfEtcdIsReadAsItWasWritten(t *testing.T) {
	const big = 17 << 10 // larger than any object may be
	public, key := keyPair(t)
	ids, err := backup.ReadIdentities(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]backup.Recipients{"a folder": {}, "encrypted": recipients(t, public)} {
		t.Run(name, func(t *testing.T) {
			b, err := backup.Open(write(t, t.TempDir(), withSnapshot(big), to), ids)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Snapshot, withSnapshot(big).Snapshot) || b.Manifest.Format != 3 ||
				len(b.Manifest.Etcd.Members) != 2 || b.Manifest.Etcd.Members[1] != withSnapshot(big).Etcd.Members[1] {
				t.Errorf("it has %d bytes of %+v", len(b.Snapshot), b.Manifest.Etcd)
			}
			if len(b.Section(backup.Etcd)) > 0 || len(b.Section(backup.Objects)) != 2 {
				t.Error("the snapshot counts as an object, or objects are missing")
			}
		})
	}
}

func TestASnapshotThatIsNoneIsNotWritten(t *testing.T) {
	c := withSnapshot(4)
	c.Snapshot[1] ^= 1
	if _, err := backup.Stage(t.TempDir(), c, backup.Recipients{}, backup.Signer{}); err == nil {
		t.Error("a snapshot with one flipped bit was written")
	}
}

func TestASnapshotThatIsNotWhatWasWrittenIsRefused(t *testing.T) {
	member := func(key string, value any) func(*testing.T, string) {
		return func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) {
				m["etcd"].(map[string]any)["members"].([]any)[0].(map[string]any)[key] = value
			})
		}
	}
	for name, tc := range map[string]struct {
		spoil func(*testing.T, string)
		want  string
	}{
		"one bit": {func(t *testing.T, f string) {
			file := filepath.Join(f, "etcd", "snapshot.db")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text[100] ^= 1
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "etcd/snapshot.db was changed"},
		"missing": {func(t *testing.T, f string) {
			if err := os.Remove(filepath.Join(f, "etcd", "snapshot.db")); err != nil {
				t.Fatal(err)
			}
		}, "etcd/snapshot.db is missing"},
		"not described": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { delete(m, "etcd") })
		}, "snapshot of etcd is incomplete"},
		"not listed": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { delete(m["files"].(map[string]any), "etcd/snapshot.db") })
		}, "snapshot of etcd is incomplete"},
		"no members": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) { m["etcd"].(map[string]any)["members"] = []any{} })
		}, "has no members"},
		"a member that is a path":     {member("name", "../x"), "not a valid name"},
		"a member without an address": {member("address", "localhost; rm"), "not an IP address"},
		"a member twice":              {member("name", "mgmt-control-plane-y"), "is in it twice"},
		"another file": {func(t *testing.T, f string) {
			edit(t, f, func(m map[string]any) {
				m["files"].(map[string]any)["etcd/other.yaml"] = m["files"].(map[string]any)["etcd/snapshot.db"]
			})
		}, "not a path of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, t.TempDir(), withSnapshot(4), backup.Recipients{})
			tc.spoil(t, folder)
			_, err := backup.Open(folder, backup.Identities{})
			if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
