//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// quorumBound is how long a restore of etcd may take until the API server is ready.
const quorumBound = 5 * time.Minute

// TestMatrixQuorum loses two of three control-plane machines. While the others may come back, nothing is restored. Then
// the one that is left gets the snapshot of a sealed backup: what was written before it is there, and nothing else.
// Once the machines were replaced, the snapshot does not fit any more.
func TestMatrixQuorum(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	if code, _ := l.run(t, "up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3"); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	management.note(t, "before")
	path, key := l.backupEtcd(t)
	management.note(t, "after")

	restore := []string{"restore", path, "--etcd", "--identity", key, "--force", l.name}
	if code, _ := l.run(t, restore...); code != 64 {
		t.Errorf("restore while the API server is ready ended with %d, want 64", code)
	}
	all := machines(t)
	survivor, lost := all[0], all[1:]
	docker(t, append([]string{"stop"}, lost...)...)
	l.refusesToRestore(t, restore, "the snapshot is for one")
	docker(t, append([]string{"rm", "--force", "--volumes"}, lost...)...)
	l.refusesToRestore(t, slices.Clip(restore[:len(restore)-2]), "is lost")
	l.restoresEtcd(t, restore, survivor)
	if !management.noted(t, "before") || management.noted(t, "after") {
		t.Error("the API server has not what the snapshot has")
	}

	// Without the Nodes, their Pods are made elsewhere at once, Cluster API's controllers among them.
	for _, gone := range append(management.list(t, "", "v1", "Node"),
		management.list(t, "cluster.x-k8s.io", "v1beta2", "Machine")...) {
		if gone.GetName() != survivor {
			must(t, management.Delete(t.Context(), &gone))
		}
	}
	eventually(t, "three control-plane machines again", 20*time.Minute, func(ctx context.Context) bool {
		return len(management.readyMachines(ctx)) == 3
	})
	management.managesItself(t)
	docker(t, append([]string{"rm", "--force", "--volumes", survivor}, others(machines(t), survivor)[1:]...)...)
	l.refusesToRestore(t, restore, "the machines have changed")
}

// backupEtcd makes a sealed backup with a snapshot, and returns it and the file of the key.
func (l lab) backupEtcd(t *testing.T) (path, key string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	key = filepath.Join(t.TempDir(), "key.txt")
	must(t, os.WriteFile(key, []byte(identity.String()+"\n"), 0o600))
	code, out := l.run(t, "backup", l.name, "--etcd", "--output-dir", t.TempDir(), "--recipient",
		identity.Recipient().String(), "-o", "json")
	var line struct {
		Path string `json:"path"`
		Etcd struct {
			Members []any `json:"members"`
		} `json:"etcd"`
	}
	if err := json.Unmarshal([]byte(lastLine(out)), &line); code != 0 || err != nil || len(line.Etcd.Members) != 3 {
		t.Fatalf("backup ended with %d: %v, %s", code, err, out)
	}
	return line.Path, key
}

// refusesToRestore fails the test unless a restore ends with an error that says so, and changes nothing.
func (l lab) refusesToRestore(t *testing.T, restore []string, says string) {
	t.Helper()
	states := func() string {
		return docker(t, "ps", "-a", "--format", "{{.Names}} {{.State}}", "--filter", "label=io.x-k8s.kind.cluster="+l.name)
	}
	before := states()
	e := l.signalAt(t, os.Interrupt, never, restore...)
	if e.exitCode == 0 || !strings.Contains(e.failure.Message+e.stderr, says) {
		t.Errorf("restore ended with %d: %+v, want %q", e.exitCode, e.failure, says)
	}
	if now := states(); now != before {
		t.Errorf("a refused restore changed machines: %s, was %s", now, before)
	}
}

// restoresEtcd fails the test unless the restore brings the API server back in time.
func (l lab) restoresEtcd(t *testing.T, restore []string, survivor string) {
	t.Helper()
	begun := time.Now()
	code, out := l.run(t, append(restore, "-o", "json")...)
	took := time.Since(begun)
	t.Logf("restored after %s: %s", took.Round(time.Second), out)
	var line struct {
		Machine string `json:"machine"`
	}
	if err := json.Unmarshal([]byte(lastLine(out)), &line); code != 0 || err != nil || line.Machine != survivor {
		t.Fatalf("restore ended with %d: %v, %s", code, err, out)
	}
	if took > quorumBound {
		t.Errorf("the API server was ready after %s, want %s", took, quorumBound)
	}
}

// note writes a ConfigMap.
func (c cluster) note(t *testing.T, name string) {
	t.Helper()
	must(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
}

// noted reports whether the ConfigMap exists.
func (c cluster) noted(t *testing.T, name string) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &corev1.ConfigMap{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// others returns the names without one of them.
func others(names []string, without string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == without })
}

// lastLine returns the line of the answer: those of events come before it.
func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
