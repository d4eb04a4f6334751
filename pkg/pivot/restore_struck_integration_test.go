//go:build integration

package pivot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// restoreSample is the number of a restore's writes with an injected fault, unless all are tested.
const restoreSample = 12

// TestRestoreStruck injects faults into a restore at writes that a seed selects. It verifies that the next run ends
// with everything on the target, once and unchanged. CLUSTER_INIT_TEST_SEED replays a seed; CLUSTER_INIT_TEST_ALL=1
// injects every fault at every write.
func TestRestoreStruck(t *testing.T) {
	j := newJob(t)
	var total int
	t.Run("undisturbed", func(t *testing.T) {
		j := j.restoring(t)
		if !j.start(t) {
			t.Fatal("it did not end well")
		}
		j.checkRestored(t)
		text, err := os.ReadFile(filepath.Join(j.Dir, "writes"))
		if err != nil {
			t.Fatal(err)
		}
		if total, err = strconv.Atoi(string(text)); err != nil || total < len(grown()) {
			t.Fatalf("%d writes, %v", total, err)
		}
	})
	seed := seed(t)
	t.Logf("%d writes, CLUSTER_INIT_TEST_SEED=%d", total, seed)
	random := rand.New(rand.NewPCG(seed, 1))
	drawn := draw(random, total)
	if os.Getenv("CLUSTER_INIT_TEST_ALL") == "" {
		drawn = drawn[:min(restoreSample, len(drawn))]
		for i := range drawn[:len(drawn)*2/3] { // most of them are kills, and one is at the last write, which resumes
			drawn[i].What = []string{killedBefore, killedAfter}[i%2]
		}
		drawn[0].Write = total
	}
	for _, at := range drawn {
		t.Run(fmt.Sprintf("%s-%d", at.What, at.Write), func(t *testing.T) {
			t.Parallel()
			j := j.restoring(t)
			for _, at := range []strike{at, {}} {
				j.Strike = at
				if j.start(t) {
					break
				}
			}
			j.checkRestored(t)
		})
	}
}

// restoring gives a job a backup of a cluster that is lost, and a namespace on the target to restore it into.
func (j job) restoring(t *testing.T) job {
	t.Helper()
	s := newSavedStage(t, grown(), silentKubeconfig())
	s.addWorkload()
	j.Namespace, j.Dir, j.Backup = s.Scope.Namespace, s.BackupDir, s.Path
	return j
}

// restore is what such a job's process does.
func (j job) restore(ctx context.Context, target clusters.Side) error {
	b, err := backup.Open(j.Backup, backup.Identities{})
	if err != nil {
		return err
	}
	kubeconfig, err := os.ReadFile(j.Target)
	if err != nil {
		return err
	}
	_, err = restore.Run(ctx, restore.Input{Backup: b, Path: j.Backup, Target: target,
		TargetKubeconfig: kubeconfig, Force: true, Restore: capi.Restore})
	return err
}

func (j job) checkRestored(t *testing.T) {
	t.Helper()
	b, err := backup.Open(j.Backup, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	checkReleases(t, b, true) // nobody has checked who made it
	checkRestored(t, b)
	graph, err := capi.Discover(t.Context(), servers.target.Client, b.Manifest.Namespaces()...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(graph.Moves()), len(b.Section(backup.Objects)); got != want {
		t.Errorf("%d objects on the target, want %d", got, want)
	}
}
